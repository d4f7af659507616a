import { statfs } from 'node:fs/promises'

/** Returns how many bytes an unprivileged user can still write to the disk of the folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
