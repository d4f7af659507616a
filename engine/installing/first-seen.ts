/**
 * Trust on first use: the checksums of files of which nobody publishes one, as they were when the
 * model was first installed here. Later installs must get the same files.
 */

import { readFile, rm, writeFile } from 'node:fs/promises'
import type { SourceFile } from '../../models/installed/record.ts'
import { firstSeenOf } from './installed-folder.ts'

type Fetched = SourceFile & { path: string }

/** SHA-256 by address. */
type FirstSeen = Readonly<Record<string, string>>

/** @throws Error if a file is another than at the first install; it is removed */
export async function assertAsFirstSeen(
  modelsFolder: string,
  name: string,
  files: readonly Fetched[],
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

/** To be called once the model is installed. */
export async function keepFirstSeen(
  modelsFolder: string,
  name: string,
  files: readonly Fetched[],
): Promise<void> {
  const record = firstSeenOf(modelsFolder, name)
  const unverified = files.filter(({ verified }) => !verified)
  if (unverified.length === 0) return
  const seen = Object.fromEntries(unverified.map(({ url = '', sha256 }) => [url, sha256]))
  await writeFile(record, JSON.stringify({ ...seen, ...(await read(record)) }, null, 2))
}

async function read(record: string): Promise<FirstSeen> {
  try {
    return JSON.parse(await readFile(record, 'utf8')) as FirstSeen
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`${record}: ${(error as Error).message}`, { cause: error })
  }
}
