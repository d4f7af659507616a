/** How long a request still takes, as its progress shows. */

/** Progress over fewer seconds says nothing about the speed. */
const SECONDS_MIN = 1

/**
 * A function of progress, from 0 to 1, and the time in ms; null while nothing can be said. The
 * speed is that since the first progress, so that waiting in the queue does not count.
 */
export function createTimer(): (progress: number | undefined, nowMs: number) => number | null {
  let first: { progress: number; at: number } | undefined
  return (progress, nowMs) => {
    if (progress === undefined) {
      first = undefined // it was queued again
      return null
    }
    if (!first || progress < first.progress) first = { progress, at: nowMs }
    const seconds = (nowMs - first.at) / 1_000
    const done = progress - first.progress
    if (seconds < SECONDS_MIN || done <= 0) return null
    return ((1 - progress) * seconds) / done
  }
}
