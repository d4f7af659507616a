/** Folders for the media of jobs in hand, on local disk; none outlives its process for long. */

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const FOLDER_NAME = /^job-(\d+)-/

/** A new empty folder for one job. */
export const makeJobFolder = (scratchFolder: string): Promise<string> =>
  mkdtemp(join(scratchFolder, `job-${process.pid}-`))

/** Makes the scratch folder, and removes from it what engines left that were killed. */
export async function prepareScratch(scratchFolder: string): Promise<void> {
  await mkdir(scratchFolder, { recursive: true })
  for (const name of await readdir(scratchFolder)) {
    const pid = FOLDER_NAME.exec(name)?.[1]
    if (!pid || (Number(pid) !== process.pid && existsSync(`/proc/${pid}`))) continue
    await rm(join(scratchFolder, name), { recursive: true, force: true })
  }
}
