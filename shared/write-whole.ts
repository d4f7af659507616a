import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'

/**
 * Replaces the file atomically: a concurrent reader, and whoever comes after a crash, gets the old
 * or the new text. Several processes may do so at once.
 * @param mode mode of the file
 * @throws errors of the file system; the file is then as it was
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const fresh = `${path}.${randomUUID()}`
  try {
    await writeFile(fresh, text, { mode, flush: true })
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}
