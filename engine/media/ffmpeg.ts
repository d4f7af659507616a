/** What all uses of FFmpeg share. Its own log is silent: every failure arrives as a code. */

import { AV_LOG_QUIET } from 'node-av/constants'
import { FFmpegError, Log } from 'node-av/lib'

Log.setLevel(AV_LOG_QUIET)

/**
 * `code`, unless it is one of FFmpeg's error codes.
 * @param doing what was tried, such as `write the header`
 * @throws Error naming what was tried and FFmpeg's reason
 */
export function check(code: number, doing: string): number {
  if (code < 0) throw new Error(`FFmpeg could not ${doing}: ${reason(code)}`)
  return code
}

/** FFmpeg's words for an error code. */
export const reason = (code: number): string => FFmpegError.strerror(code)
