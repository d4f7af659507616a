/** Finds the gaps in the times of a stream of sound: decoding and measuring must find the same. */

/**
 * Seconds. Times are rounded to milliseconds, belong to packets rather than to what they unfold to,
 * and come from clocks that drift: sound is moved only once it would be this much too early.
 */
const GAP_SECONDS_MIN = 0.1

export class SoundClock {
  /** When the next piece is due if there is no gap; null before the first that says its time. */
  #dueSeconds: number | null = null

  /**
   * How much silence, in seconds, comes before a piece that says it begins at `startSeconds`; null:
   * it does not say, and follows the one before. A step back is no gap: nothing is left out, and
   * the times after it count from there.
   */
  gapBefore(startSeconds: number | null): number {
    if (startSeconds === null) return 0
    const lateSeconds = startSeconds - (this.#dueSeconds ?? startSeconds)
    const isJump = Math.abs(lateSeconds) > GAP_SECONDS_MIN
    if (isJump || this.#dueSeconds === null) this.#dueSeconds = startSeconds
    return isJump ? Math.max(0, lateSeconds) : 0
  }

  /** Ends a piece that lasts so long. */
  advance(seconds: number): void {
    if (this.#dueSeconds !== null) this.#dueSeconds += seconds
  }
}
