/** Renames requests. */

import { currentClient } from './credential.ts'
import { renameEntry } from './file-queue.ts'
import { newNameOf } from './new-name.ts'

/**
 * Asks for a new name of a request, and renames it.
 * @returns the new name; null if it keeps the old one
 */
export async function renameRequest(id: string, name: string): Promise<string | null> {
  const input = prompt('New name. Files that you save are named after it.', name)
  if (input === null || input === name) return null
  const next = newNameOf(name, input)
  if (next === '' || next === name) return null
  await currentClient().rename(id, next)
  renameEntry(id, next)
  return next
}
