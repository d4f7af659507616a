/** Folders on local disk for the media of open jobs. The next engine removes any that are left. */

import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onDisk } from '../../shared/process/lifecycle.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'

const FOLDER_NAME = /^job-(\d+)-/

/** Creates a new empty folder for one job. */
export const makeJobFolder = (scratchFolder: string): Promise<string> =>
  mkdtemp(join(scratchFolder, `job-${process.pid}-`))

/**
 * Creates the scratch folder, and removes what killed engines left in it.
 * @throws StartError if nothing can be written there
 */
export async function prepareScratch(scratchFolder: string): Promise<void> {
  await onDisk(`SCRATCH_DIR: ${scratchFolder}`, makeFolder(scratchFolder))
  for (const name of await readdir(scratchFolder)) {
    const pid = FOLDER_NAME.exec(name)?.[1]
    if (!pid || (Number(pid) !== process.pid && existsSync(`/proc/${pid}`))) continue
    await rm(join(scratchFolder, name), { recursive: true, force: true })
  }
}
