/** Checks space, permissions and speed of the folders that are written to. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Context } from '../context.ts'
import { failure, okFinding, warning, type Finding } from '../finding.ts'
import { gibibytes } from '../../machine.ts'

const FSYNCS = 15
/** Every submit waits for one; server disks take 0.1 to 10 ms. */
const FSYNC_MS_MAX = 50

export async function checkDisk({ gateway, engine }: Context): Promise<Finding[]> {
  return Promise.all([
    ...(gateway ? [folderFinding('data disk', gateway.dataFolder, gateway.diskFreeBytesMin)] : []),
    ...(engine
      ? [folderFinding('scratch disk', engine.scratchFolder, engine.scratchFreeBytesMin)]
      : []),
  ])
}

async function folderFinding(name: string, path: string, freeBytesMin: number): Promise<Finding> {
  const folder = nearest(resolve(path))
  const { bavail, bsize } = await statfs(folder)
  const free = `${gibibytes(bavail * bsize)} free`
  try {
    const fsyncMs = await medianFsyncMs(folder)
    const found = `${path}: ${free}, fsync in ${fsyncMs.toFixed(1)} ms`
    if (bavail * bsize < freeBytesMin) {
      return failure(
        name,
        found,
        `Free disk space: below ${gibibytes(freeBytesMin)} work is refused.`,
      )
    }
    if (fsyncMs <= FSYNC_MS_MAX) return okFinding(name, found)
    return warning(name, found, 'Every submit waits for one: put the folder on a faster disk.')
  } catch (error) {
    const remedy = 'Give the folder to the user who runs Winnow, and mount its disk for writing.'
    return failure(name, `${folder} is not writable: ${(error as Error).message}`, remedy)
  }
}

/** The folder, or its closest parent that exists. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)))

async function medianFsyncMs(folder: string): Promise<number> {
  const path = join(folder, `.winnow-doctor-${randomBytes(4).toString('hex')}`)
  const file = await open(path, 'wx', 0o600)
  try {
    const times: number[] = []
    for (let i = 0; i < FSYNCS; i += 1) {
      const startedAt = performance.now()
      await file.write(randomBytes(4_096), 0, 4_096, i * 4_096)
      await file.sync()
      times.push(performance.now() - startedAt)
    }
    return times.sort((a, b) => a - b)[Math.floor(FSYNCS / 2)]!
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
