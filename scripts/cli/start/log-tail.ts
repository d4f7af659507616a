/** Reads what a process has logged since it started. */

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'

/** Of a longer log, only the end is read. */
const BYTES_MAX = 65_536
/** pino's number for the level `fatal`. */
const FATAL = 60

/** The current size of a log in bytes. */
export const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

/**
 * The last `bytesMax` bytes of a log from `start` on, or of all of it if it was truncated since.
 */
export function logSince(path: string, start: number, bytesMax = BYTES_MAX): string {
  const size = sizeOf(path)
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

/** The message of the last fatal line; undefined if the process ended in another way. */
export function fatalMessage(log: string): string | undefined {
  const entries = log.split('\n').flatMap((line) => parse(line) ?? [])
  return entries.findLast(({ level }) => level === FATAL)?.msg
}

function parse(line: string): { level?: number; msg?: string } | undefined {
  try {
    return JSON.parse(line) as object
  } catch {
    return undefined // not an entry, for example a stack trace
  }
}
