/** What all uses of FFmpeg share. FFmpeg's own log is off: every failure arrives as a code. */

import { AV_LOG_QUIET, AVERROR_ENOMEM, AVERROR_ENOSPC } from 'node-av/constants'
import { FFmpegError, Log } from 'node-av/lib'

Log.setLevel(AV_LOG_QUIET)

/** States what failed, with FFmpeg's reason. */
export class CallError extends Error {
  readonly code: number
  constructor(code: number, doing: string) {
    super(`FFmpeg could not ${doing}: ${reason(code)}`)
    this.name = 'CallError'
    this.code = code
  }
}

/**
 * Returns `code`, unless it is one of FFmpeg's error codes.
 * @param doing the action, such as `write the header`
 * @throws CallError
 */
export function check(code: number, doing: string): number {
  if (code < 0) throw new CallError(code, doing)
  return code
}

/** FFmpeg's message for an error code. */
export const reason = (code: number): string => FFmpegError.strerror(code)

/** FFmpeg or the file system found no room on the disk. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === AVERROR_ENOSPC || code === 'ENOSPC'
}

/** Memory ran out, for FFmpeg or for an array of ours, for which Node 24 has words of its own. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof CallError
    ? error.code === AVERROR_ENOMEM
    : error instanceof Error && /allocation failed|Failed to allocate memory/.test(error.message)

/** @throws CallError when memory ran out: that must not pass for the end of a file or for damage */
export function assertInMemory(code: number): void {
  if (code === AVERROR_ENOMEM) check(code, 'read the file')
}
