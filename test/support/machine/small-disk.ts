/** Mounts a small disk, a tmpfs, that a test can fill and free. */

import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm, rmdir, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface SmallDisk {
  folder: string
  /** Fills the disk to the last byte. */
  fill(): Promise<void>
  /** Undoes `fill`. */
  free(): Promise<void>
}

/** Returns why this process can't mount a disk; null if it can. */
export function whyNoSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return 'a disk can be mounted by root alone'
  try {
    // Even root can't where it lacks the permission to mount, as in most containers.
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `a disk can't be mounted: ${(error as Error).message}`
  }
}

/** The pieces that fill the disk, large ones first. */
const PIECES = [1_048_576, 4_096].map((bytes) => Buffer.alloc(bytes))

/** Mounts the disk until the test ends; whatever uses it must end first, by a later `t.after`. */
export async function mountSmallDisk(
  t: Pick<TestContext, 'after'>,
  mebibytes: number,
): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'small-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'tmpfs', folder])
  t.after(async () => {
    execFileSync('umount', ['--lazy', folder])
    await rmdir(folder)
  })
  const path = join(folder, 'filled')
  return {
    folder,
    async fill() {
      const file = await open(path, 'a')
      try {
        for (const piece of PIECES) await writeUntilFull(file, piece)
      } finally {
        await file.close()
      }
    },
    free: () => rm(path, { force: true }),
  }
}

async function writeUntilFull(file: FileHandle, piece: Buffer): Promise<void> {
  try {
    for (;;) await file.write(piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
