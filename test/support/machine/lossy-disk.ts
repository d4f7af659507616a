/**
 * Simulates a disk that loses power: as far as the file system knows, everything unflushed is gone.
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export interface LossyDisk {
  folder: string
  /**
   * Cuts the power: reads and writes fail from now on. Returns the monotonic time, in nanoseconds,
   * just before the cut. A flush that is under way may succeed after that, although its data is
   * lost: ext4 takes a transaction that it has aborted for one that is written.
   */
  losePower(): bigint
  /** Mounts the disk again, with whatever had been flushed to it. */
  restore(): void
}

const MEBIBYTE = 2 ** 20

const run = (...[command, ...words]: readonly [string, ...string[]]) =>
  execFileSync(command, words, { stdio: 'pipe' })

/**
 * Cuts the power of an ext4 file system in a file, by the system call for testing file systems
 * (FS_IOC_SHUTDOWN, without flushing the journal), which Python can make.
 */
const LOSE_POWER = `
import fcntl, os, struct, sys, time
disk, flags = os.open(sys.argv[1], os.O_RDONLY), struct.pack('I', 2)
before = time.monotonic_ns()
fcntl.ioctl(disk, 0x8004587d, flags)
print(before)
`

/** Returns why this process can't mount a disk; null if it can. */
export function whyNoLossyDisk(): string | null {
  if (process.getuid?.() !== 0) return 'a disk can be mounted by root alone'
  const folder = mkdtempSync(join(tmpdir(), 'lossy-disk-'))
  try {
    const image = makeImage(folder, 16)
    run('mount', '-o', 'loop', image, folder)
    run('umount', folder)
    return null
  } catch (error) {
    return `a disk can't be mounted: ${(error as Error).message}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Mounts the disk until the test ends; whatever uses it must end first. */
export async function mountLossyDisk(
  t: Pick<TestContext, 'after'>,
  mebibytes: number,
): Promise<LossyDisk> {
  const place = mkdtempSync(join(tmpdir(), 'lossy-disk-'))
  const image = makeImage(place, mebibytes)
  const folder = join(place, 'disk')
  await mkdir(folder)
  const mount = () => run('mount', '-o', 'loop', image, folder)
  mount()
  t.after(() => {
    run('umount', '--lazy', folder)
    rmSync(place, { recursive: true })
  })
  return {
    folder,
    losePower: () => BigInt(run('python3', '-c', LOSE_POWER, folder).toString().trim()),
    restore() {
      run('umount', folder)
      mount()
    },
  }
}

function makeImage(folder: string, mebibytes: number): string {
  const image = join(folder, 'image')
  writeFileSync(image, '')
  truncateSync(image, mebibytes * MEBIBYTE)
  run('mkfs.ext4', '-q', '-F', image)
  return image
}
