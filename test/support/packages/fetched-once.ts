/** Fetches from registries once for all tests, and keeps the files under .runtime. */

import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RUNTIME = fileURLToPath(new URL('../../../.runtime', import.meta.url))

/**
 * Returns the folder of that name. If it is missing, `fetch` fills a temporary folder, which is
 * then renamed.
 */
export async function fetchedOnce(
  name: string,
  fetch: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(RUNTIME, name)
  if (existsSync(folder)) return folder
  const fresh = await mkdtemp(`${folder}.`)
  try {
    await fetch(fresh)
    await rename(fresh, folder)
  } catch (error) {
    await rm(fresh, { recursive: true })
    if (!existsSync(folder)) throw error // otherwise another process got there first
  }
  return folder
}
