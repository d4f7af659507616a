/** Tracks how much of the work on several files is done, and how long the rest will take. */

/** The share of a file's work at which its phases end; separating comes in between. */
const UPLOADED = 0.1
/** Before this much is done, the remaining time is unknown. */
const PART_MIN = 0.02

export class ManyFilesWork {
  readonly #now: () => number
  /** The completed share of each file that was started. */
  readonly #parts: number[] = []
  #count: number
  #ended = 0
  #startedAt: number | undefined

  /** @param now returns milliseconds */
  constructor(count: number, now = () => performance.now()) {
    this.#count = count
    this.#now = now
  }

  /** From 0 to 1. */
  get part(): number {
    if (this.#count === 0) return 1
    return this.#parts.reduce((sum, part) => sum + part, 0) / this.#count
  }

  get ended(): string {
    return `${this.#ended} of ${this.#count} files`
  }

  /** Undefined if unknown. */
  get secondsLeft(): number | undefined {
    const { part } = this
    if (this.#startedAt === undefined || part < PART_MIN) return undefined
    return ((this.#now() - this.#startedAt) * (1 - part)) / part / 1_000
  }

  /**
   * The work on one file. A file that ends without any work was done before and no longer counts.
   */
  file() {
    let i: number | undefined
    return {
      show: (phase: string, part: number) => {
        this.#startedAt ??= this.#now()
        i ??= this.#parts.push(0) - 1
        this.#parts[i] = Math.max(this.#parts[i]!, doneIn(phase, part))
      },
      stop: () => {
        if (i === undefined) {
          this.#count -= 1
          return
        }
        this.#parts[i] = 1
        this.#ended += 1
      },
    }
  }
}

function doneIn(phase: string, part: number): number {
  if (phase === 'uploading') return UPLOADED * part
  if (phase === 'downloading') return 1
  return phase === 'separating' ? UPLOADED + (1 - UPLOADED) * part : UPLOADED
}
