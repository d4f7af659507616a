/** A small disk, a tmpfs, that a test fills and frees. */

import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm, rmdir, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface SmallDisk {
  folder: string
  /** Leaves not a byte. */
  fill(): Promise<void>
  /** Undoes `fill`. */
  free(): Promise<void>
}

/** Why this process can't mount one; null where it can. */
export function whyNoSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return 'a disk can be mounted by root alone'
  try {
    // Without the right to mount, as in most containers, root can't either.
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `a disk can't be mounted: ${(error as Error).message}`
  }
}

/** Fill it, the large ones first. */
const PIECES = [1_048_576, 4_096].map((bytes) => Buffer.alloc(bytes))

/** It lasts as long as the test; what uses it must have ended before, by a later `t.after`. */
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
