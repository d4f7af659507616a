/** Finds gaps in the timestamps of sound. Decoding and measuring must find the same ones. */

/**
 * In seconds. Sound is only moved if it would otherwise be this much too early, because timestamps
 * are rounded, refer to packets, and come from clocks that drift.
 */
const GAP_SECONDS_MIN = 0.1

export class SoundClock {
  /** When the next piece is due without a gap; null before the first one with a timestamp. */
  #dueSeconds: number | null = null

  /**
   * Returns the seconds of silence before a piece; null means that it follows the one before. After
   * a step backwards nothing is dropped, and later times count from there.
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
