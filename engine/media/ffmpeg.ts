/** What all uses of FFmpeg share. FFmpeg's own log is off: every failure arrives as a code. */

import { AV_LOG_QUIET, AVERROR_ENOMEM, AVERROR_ENOSPC } from 'node-av/constants'
import { FFmpegError, Log } from 'node-av/lib'

Log.setLevel(AV_LOG_QUIET)

/** States what failed, with FFmpeg's reason. */
export class FfmpegCallError extends Error {
  readonly code: number
  constructor(code: number, action: string) {
    super(`FFmpeg could not ${action}: ${reason(code)}`)
    this.name = 'FfmpegCallError'
    this.code = code
  }
}

/**
 * Returns `code`, unless it is one of FFmpeg's error codes.
 * @param action such as `write the header`
 * @throws FfmpegCallError
 */
export function check(code: number, action: string): number {
  if (code < 0) throw new FfmpegCallError(code, action)
  return code
}

/** FFmpeg's message for an error code. */
export const reason = (code: number): string => FFmpegError.strerror(code)

/** FFmpeg or the file system found no room on the disk. */
export function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === AVERROR_ENOSPC || code === 'ENOSPC'
}

/**
 * Whether this is FFmpeg's ENOMEM or a failed array allocation, which Node 24 words differently.
 */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof FfmpegCallError
    ? error.code === AVERROR_ENOMEM
    : error instanceof Error && /allocation failed|Failed to allocate memory/.test(error.message)

/**
 * @throws FfmpegCallError if memory ran out, so that it is not mistaken for the end of the file or
 *   for a corrupt file
 */
export function throwIfOutOfMemory(code: number): void {
  if (code === AVERROR_ENOMEM) check(code, 'read the file')
}
