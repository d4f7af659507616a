/**
 * Trust on first use: the checksums of files of which nobody publishes one, as they were when the
 * model was first installed here. Later installs must get the same files.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SourceFile } from '../../models/installed/record.ts'
import { writeWhole } from '../../shared/write-whole.ts'

/** SHA-256 by address. */
type FirstSeen = Readonly<Record<string, string>>

/** The file that keeps what was first fetched of the model; it stays when the model is removed. */
const firstSeenOf = (modelsFolder: string, name: string): string =>
  join(modelsFolder, `.first-seen-${name}.json`)

/** @throws Error if a file is another than at the first install; it is removed */
export async function assertAsFirstSeen(
  modelsFolder: string,
  name: string,
  files: readonly (SourceFile & { path: string })[],
): Promise<void> {
  const record = firstSeenOf(modelsFolder, name)
  const firstSeen = await read(record)
  for (const { file, path, url = '', sha256, verified } of files) {
    const first = firstSeen[url]
    if (verified || first === undefined || first === sha256) continue
    await rm(path)
    throw new Error(
      `${file}: its SHA-256 is ${sha256}, and was ${first} when ${name} was first installed ` +
        `here. If its authors say that they changed it, remove ${record} and fetch it again.`,
    )
  }
}

/** Keeps what is not kept yet; imported files have no address, and are not. */
export async function keepFirstSeen(
  modelsFolder: string,
  name: string,
  sources: readonly SourceFile[],
): Promise<void> {
  const unverified = sources.filter(({ url, verified }) => url !== undefined && !verified)
  if (unverified.length === 0) return
  const record = firstSeenOf(modelsFolder, name)
  const firstSeen = await read(record)
  const seen = Object.fromEntries(unverified.map(({ url, sha256 }) => [url, sha256]))
  if (Object.keys(seen).every((url) => url in firstSeen)) return
  await writeWhole(record, JSON.stringify({ ...seen, ...firstSeen }, null, 2), 0o644)
}

async function read(record: string): Promise<FirstSeen> {
  try {
    return JSON.parse(await readFile(record, 'utf8')) as FirstSeen
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`${record}: ${(error as Error).message}`, { cause: error })
  }
}
