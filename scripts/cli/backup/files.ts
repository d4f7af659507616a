/** Copies and lists files and folders for a backup. */

import { constants } from 'node:fs'
import { copyFile, readdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../../shared/process/make-folder.ts'

/** @returns 1, or 0 if there is no such file */
export async function copy(from: string, to: string): Promise<0 | 1> {
  await makeFolder(dirname(to), 0o700)
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return 1
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** @throws Error that begins with `what` if the path does not exist */
export async function assertThere(path: string, what: string): Promise<void> {
  if (!(await isThere(path))) throw new Error(`${what}: there is no ${path}.`)
}

/** @throws Error if the folder exists and is not empty */
export async function assertEmpty(folder: string): Promise<void> {
  const entries = (await isThere(folder)) ? await readdir(folder) : []
  if (entries.length > 0) throw new Error(`${folder} must be empty, or not exist yet.`)
}
