/** Folders for the media of open jobs, on local disk, removed at the latest by the next engine. */

import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onDisk } from '../../shared/process/lifecycle.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'

const FOLDER_NAME = /^job-(\d+)-/

/** A new empty folder for one job. */
export const makeJobFolder = (scratchFolder: string): Promise<string> =>
  mkdtemp(join(scratchFolder, `job-${process.pid}-`))

/**
 * Makes the scratch folder, and removes what killed engines left in it.
 * @throws StartError when the disk takes no files
 */
export async function prepareScratch(scratchFolder: string): Promise<void> {
  await onDisk(`SCRATCH_DIR: ${scratchFolder}`, makeFolder(scratchFolder))
  for (const name of await readdir(scratchFolder)) {
    const pid = FOLDER_NAME.exec(name)?.[1]
    if (!pid || (Number(pid) !== process.pid && existsSync(`/proc/${pid}`))) continue
    await rm(join(scratchFolder, name), { recursive: true, force: true })
  }
}
