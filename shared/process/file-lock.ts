/**
 * A lock that one process alone has, by flock(2). The kernel keeps it on the file, not by a process
 * number: it holds among containers that share the folder, and ends with its process, however that
 * ends. It is not passed on to child processes.
 */

import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { constants, hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { getSystemErrorName } from 'node:util'
import { StartError } from './lifecycle.ts'

/** flock(2): an exclusive lock; an answer at once. */
const LOCK_EX = 2
const LOCK_NB = 4
const RETRY_DELAY_MS = 200

interface Waiting {
  /** How long to wait for the process that has it. */
  waitMsMax: number
  /** Called once, when it must be waited for. */
  onWait(holder: string): void
}

/**
 * Takes the lock on the file, until this process ends; makes the file where there is none.
 * @returns null; or who has the lock and kept it, such as `process 17 on host-a`
 * @throws StartError where the file system has no locks; errors of the file system
 */
export async function takeLock(path: string, waiting?: Waiting): Promise<string | null> {
  const flock = await loadFlock()
  const file = openSync(path, 'a+', 0o600) // left open: with it the lock would end
  const deadline = performance.now() + (waiting?.waitMsMax ?? 0)
  for (let tries = 0; !flock(file); tries += 1) {
    const holder = readFileSync(path, 'utf8') || 'another process'
    if (performance.now() >= deadline) {
      closeSync(file)
      return holder
    }
    if (tries === 0) waiting?.onWait(holder)
    await sleep(RETRY_DELAY_MS)
  }
  ftruncateSync(file)
  writeSync(file, `process ${process.pid} on ${hostname()}`) // for people: see above
  return null
}

/** @returns flock(2) of an open file: whether this process has the lock now */
async function loadFlock(): Promise<(file: number) => boolean> {
  const { default: koffi } = await import('koffi')
  const flock = koffi.load('libc.so.6').func('flock', 'int', ['int', 'int'])
  return (file) => {
    if (flock(file, LOCK_EX | LOCK_NB) === 0) return true
    const code = koffi.errno()
    if (code === constants.errno.EWOULDBLOCK) return false
    throw new StartError(
      `The file system of DATA_DIR can't lock files (${getSystemErrorName(-code)}): ` +
        'set DATA_DIR to a folder on another.',
    )
  }
}
