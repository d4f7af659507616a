/**
 * Rotates the log of a running process, which keeps writing to the same file: a full log is copied
 * and then truncated. The process must append.
 */

import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'

/** Larger logs are rotated. */
const BYTES_MAX = 20 * 2 ** 20
/** Older parts; `.1` is the latest. */
const PARTS_MAX = 5
const EVERY_MS = 5_000

/** Rotates from time to time, as long as this process runs. */
export function keepLogSmall(path: string): void {
  const look = () => {
    try {
      rotateLog(path)
    } catch (error) {
      console.error(`${path} could not be rotated: ${String(error)}`)
    }
  }
  look()
  setInterval(look, EVERY_MS).unref()
}

/**
 * Moves the contents of a log larger than `bytesMax` to `path.1`, and older parts one further. A
 * line written between copying and truncating is lost.
 */
export function rotateLog(path: string, bytesMax = BYTES_MAX): void {
  if (!existsSync(path) || statSync(path).size <= bytesMax) return
  rmSync(`${path}.${PARTS_MAX}`, { force: true })
  for (let part = PARTS_MAX - 1; part >= 1; part -= 1) {
    if (existsSync(`${path}.${part}`)) renameSync(`${path}.${part}`, `${path}.${part + 1}`)
  }
  copyFileSync(path, `${path}.1`, constants.COPYFILE_FICLONE)
  const log = openSync(path, 'r+')
  ftruncateSync(log)
  closeSync(log)
}
