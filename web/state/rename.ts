/** Renames requests. */

import { currentClient } from './credential.ts'
import { renameEntry } from './file-queue.ts'
import { newNameOf } from './new-name.ts'

/**
 * Asks for a new name of a request, and renames it.
 * @returns the new name; null if nobody gave one
 */
export async function renameRequest(id: string, name: string): Promise<string | null> {
  const given = prompt('Name it anew. Files that you save are named after it.', name)
  if (given === null || given === name) return null
  const next = newNameOf(name, given)
  if (next === '' || next === name) return null
  await currentClient().rename(id, next)
  renameEntry(id, next)
  return next
}
