import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates the folder and its missing parents. Node's own `recursive` never ends if a parent cannot
 * be created, for example below /proc.
 * @param mode mode of the folders that are created
 * @throws errors of the file system; ENOENT if a link leads nowhere, for example to an unmounted
 *   disk
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  if (await makeOne(path, mode)) return
  await makeFolder(dirname(path), mode)
  if (await makeOne(path, mode)) return
  await mkdir(path) // throws the reason
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
