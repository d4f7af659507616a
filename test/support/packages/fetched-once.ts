/** Fetches from registries once for all tests, and keeps it under .runtime. */

import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RUNTIME = fileURLToPath(new URL('../../../.runtime', import.meta.url))

/** The folder of that name; where there is none, `fetch` fills one, which then takes its place. */
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
    if (!existsSync(folder)) throw error // else another was faster
  }
  return folder
}
