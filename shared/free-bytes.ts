import { statfs } from 'node:fs/promises'

/** Bytes that an ordinary user may still write to the disk that holds the folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
