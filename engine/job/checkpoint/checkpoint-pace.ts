/** Decides how often a job stores what it has separated. A pure function. */

export interface Pace {
  /** Since the attempt started to separate. */
  elapsedMs: number
  /** The share of the job that was separated then, and that is separated now, from 0 to 1. */
  shareBefore: number
  share: number
  /** CHECKPOINT_SECONDS in milliseconds. */
  pauseMs: number
  /** Addresses of the job that are still unused. */
  segmentsLeft: number
}

/**
 * Returns for how long to fill the next segment before sending it; null if nothing is kept now.
 * Nothing is kept during the first `pauseMs`, nor of a job that will end soon, so that short work
 * writes nothing. The remaining segments are spread over the remaining time.
 */
export function segmentMs(pace: Pace): number | null {
  const { elapsedMs, shareBefore, share, pauseMs, segmentsLeft } = pace
  if (segmentsLeft <= 0 || elapsedMs < pauseMs) return null
  const done = share - shareBefore
  const leftMs = done > 0 ? (elapsedMs * (1 - share)) / done : Infinity
  if (leftMs < 2 * pauseMs) return null
  return leftMs === Infinity ? pauseMs : Math.max(pauseMs, leftMs / segmentsLeft)
}
