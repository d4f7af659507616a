/**
 * Finds the gaps in the timestamps of a stream of sound. Decoding and measuring must find the same
 * ones.
 */

/**
 * In seconds. Timestamps are rounded to milliseconds, refer to packets rather than to decoded
 * frames, and come from clocks that drift. So sound is moved only if it would otherwise be this
 * much too early.
 */
const GAP_SECONDS_MIN = 0.1

export class SoundClock {
  /** When the next piece is due without a gap; null before the first one with a timestamp. */
  #dueSeconds: number | null = null

  /**
   * Returns how many seconds of silence precede a piece that starts at `startSeconds`. If that is
   * null, the piece follows the one before. A step backwards is not a gap: nothing is dropped, and
   * later times count from there.
   */
  gapBefore(startSeconds: number | null): number {
    if (startSeconds === null) return 0
    const lateSeconds = startSeconds - (this.#dueSeconds ?? startSeconds)
    const isJump = Math.abs(lateSeconds) > GAP_SECONDS_MIN
    if (isJump || this.#dueSeconds === null) this.#dueSeconds = startSeconds
    return isJump ? Math.max(0, lateSeconds) : 0
  }

  /** Ends a piece that lasts `seconds`. */
  advance(seconds: number): void {
    if (this.#dueSeconds !== null) this.#dueSeconds += seconds
  }
}
