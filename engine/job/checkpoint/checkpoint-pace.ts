/** How often a job keeps what it has separated. A pure function. */

export interface Pace {
  /** Since the attempt began to separate. */
  elapsedMs: number
  /** How much of the job was separated then, and is now; from 0 to 1. */
  shareBefore: number
  share: number
  /** CHECKPOINT_SECONDS, in milliseconds. */
  pauseMs: number
  /** Addresses of the job that hold nothing yet. */
  segmentsLeft: number
}

/**
 * How long the next segment is filled before it is sent; null: nothing is kept now. What a job
 * separates in its first `pauseMs` is not kept, nor that of one that will end soon, so that short
 * work writes nothing. The segments that are left are spread over the time that is left.
 */
export function segmentMs(pace: Pace): number | null {
  const { elapsedMs, shareBefore, share, pauseMs, segmentsLeft } = pace
  if (segmentsLeft <= 0 || elapsedMs < pauseMs) return null
  const done = share - shareBefore
  const leftMs = done > 0 ? (elapsedMs * (1 - share)) / done : Infinity
  if (leftMs < 2 * pauseMs) return null
  return leftMs === Infinity ? pauseMs : Math.max(pauseMs, leftMs / segmentsLeft)
}
