/** How far a picture is that is coded again, and how long that still takes. */

export interface PictureProgress {
  /** The part that is done, from 0 to 1; 1: nothing is left to code. */
  done: number
  /** At the speed so far; absent: there is none yet. */
  secondsLeft?: number
}

/** Reports of one picture, at most: whoever follows a request is woken by each. */
const REPORTS_MAX = 200

export class PictureCounter {
  readonly #packets: number
  readonly #report: (progress: PictureProgress) => void
  readonly #now: () => number
  readonly #startedAt: number
  #read = 0
  #reports = 0

  /**
   * Reports that nothing is done yet.
   * @param packets all that will be read
   * @param now milliseconds
   */
  constructor(
    packets: number,
    report: (progress: PictureProgress) => void,
    now = () => performance.now(),
  ) {
    this.#packets = packets
    this.#report = report
    this.#now = now
    this.#startedAt = now()
    report({ done: 0 })
  }

  /** Counts a packet; reports from time to time. The encoder holds pictures to the end. */
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
