/** Tracks how much of a picture has been re-encoded, and how long the rest will take. */

export interface VideoProgress {
  /** The completed share, from 0 to 1; 1 means that nothing is left to encode. */
  done: number
  /** At the speed so far; absent until that is known. */
  secondsLeft?: number
}

/**
 * At most this many reports per picture, because each one wakes everybody who follows the request.
 */
const REPORTS_MAX = 200

export class VideoCounter {
  readonly #packets: number
  readonly #report: (progress: VideoProgress) => void
  readonly #now: () => number
  readonly #startedAt: number
  #read = 0
  #reports = 0

  /**
   * Reports that nothing is done yet.
   * @param packets how many will be read
   * @param now returns milliseconds
   */
  constructor(
    packets: number,
    report: (progress: VideoProgress) => void,
    now = () => performance.now(),
  ) {
    this.#packets = packets
    this.#report = report
    this.#now = now
    this.#startedAt = now()
    report({ done: 0 })
  }

  /**
   * Counts a packet and reports from time to time. The encoder holds back pictures until the end.
   */
  count(): void {
    const read = Math.min(++this.#read, this.#packets)
    const reports = Math.floor((read * REPORTS_MAX) / this.#packets)
    if (reports <= this.#reports) return
    this.#reports = reports
    const seconds = (this.#now() - this.#startedAt) / 1_000
    this.#report({
      done: read / (this.#packets + 1),
      secondsLeft: (seconds * (this.#packets - read)) / read,
    })
  }
}
