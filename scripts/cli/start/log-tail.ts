/** Reads what a process has logged since it was started. */

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'

/** The end of a longer log is read. */
const BYTES_MAX = 65_536
/** pino's number of the level `fatal`. */
const FATAL = 60

/** The size of a log now, in bytes. */
export const endOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

/** The last `bytesMax` of what a log has from `start` on; of all, where it was emptied since. */
export function logSince(path: string, start: number, bytesMax = BYTES_MAX): string {
  const size = endOf(path)
  const first = Math.max(start > size ? 0 : start, size - bytesMax)
  if (first === size) return ''
  const bytes = Buffer.alloc(size - first)
  const file = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, first)).toString()
  } finally {
    closeSync(file)
  }
}

/** The message of the last fatal line; undefined where the process ended in another way. */
export function fatalMessage(log: string): string | undefined {
  const entries = log.split('\n').flatMap((line) => parse(line) ?? [])
  return entries.findLast(({ level }) => level === FATAL)?.msg
}

function parse(line: string): { level?: number; msg?: string } | undefined {
  try {
    return JSON.parse(line) as object
  } catch {
    return undefined // no entry, such as the stack of an error
  }
}
