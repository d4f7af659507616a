import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes the folder, and those above it, where they are missing. Node's own `recursive` never ends
 * where a folder above can't be made, such as below /proc.
 * @param mode of the folders that are made
 * @throws errors of the file system; ENOENT where a link leads to nothing, as to an unmounted disk
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  if (await makeOne(path, mode)) return
  await makeFolder(dirname(path), mode)
  if (await makeOne(path, mode)) return
  await mkdir(path) // throws why not
}

/** Returns false if the parent folder is missing. */
async function makeOne(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(path) !== path) return false
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return true
    throw error
  }
}
