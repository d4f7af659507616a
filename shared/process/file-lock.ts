/**
 * A lock that only one process can hold, using flock(2). The kernel ties it to the file rather than
 * to a process id, so it works across containers that share the folder, and ends with its process
 * in every case. Child processes do not inherit it.
 */

import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { constants, hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getSystemErrorName } from 'node:util'
import { StartError } from './lifecycle.ts'

/** flock(2): exclusive, without waiting. */
const LOCK_EX = 2
const LOCK_NB = 4
const RETRY_DELAY_MS = 200

interface LockWait {
  /** How many milliseconds to wait for the process that holds it. */
  waitMsMax: number
  /** Called once, if it must wait. */
  onWait(holder: string): void
}

/**
 * Takes the lock on the file until this process ends; creates the file if it is missing.
 * @returns null if it has the lock; otherwise the process that kept it, such as `process 17 on
 *   host-a`
 * @throws StartError if the file system does not support locks; errors of the file system
 */
export async function takeLock(path: string, waiting?: LockWait): Promise<string | null> {
  const lock = await openLocked(path, waiting) // closing the file would end the lock
  return 'holder' in lock ? lock.holder : null
}

export class LockedError extends Error {
  override name = 'LockedError'
}

/**
 * Runs `work` while this process holds the lock on the file, which is removed afterwards.
 * @throws LockedError naming the holder; whatever `work` throws; and the errors of `takeLock`
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  waiting?: LockWait,
): Promise<T> {
  const lock = await openLocked(path, waiting)
  if ('holder' in lock) throw new LockedError(`${path}: is locked by ${lock.holder}`)
  try {
    return await work()
  } finally {
    rmSync(path, { force: true })
    closeSync(lock.file)
  }
}

async function openLocked(
  path: string,
  waiting?: LockWait,
): Promise<{ file: number } | { holder: string }> {
  const flock = await loadFlock()
  const deadline = performance.now() + (waiting?.waitMsMax ?? 0)
  for (let attempts = 0; ; attempts += 1) {
    const file = openSync(path, 'a+', 0o600)
    if (flock(file, path)) {
      if (isSameFile(file, path)) {
        ftruncateSync(file)
        writeSync(file, `process ${process.pid} on ${hostname()}`) // for people
        return { file }
      }
      closeSync(file) // the previous holder has removed this file
      continue
    }
    const holder = readFileSync(file, 'utf8') || 'another process'
    closeSync(file)
    if (performance.now() >= deadline) return { holder }
    if (attempts === 0) waiting?.onWait(holder)
    await sleep(RETRY_DELAY_MS)
  }
}

const isSameFile = (file: number, path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(file).ino

/** @returns flock(2) for an open file, which tells whether this process now holds the lock */
async function loadFlock(): Promise<(file: number, path: string) => boolean> {
  const { default: koffi } = await import('koffi')
  const flock = koffi.load('libc.so.6').func('flock', 'int', ['int', 'int'])
  return (file, path) => {
    if (flock(file, LOCK_EX | LOCK_NB) === 0) return true
    const code = koffi.errno()
    if (code === constants.errno.EWOULDBLOCK) return false
    throw new StartError(
      `The file system of ${dirname(path)} can't lock files (${getSystemErrorName(-code)}): ` +
        'use a folder on another.',
    )
  }
}
