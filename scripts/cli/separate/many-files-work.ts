/** Counts how much of the work on several files is done, and how long the rest takes. */

/** Shares of a file's work that its phases end with; what comes in between is separating. */
const UPLOADED = 0.1
/** Until so much is done nobody knows how long the rest takes. */
const PART_MIN = 0.02

export class ManyFilesWork {
  readonly #now: () => number
  /** The part that is done of each file that was begun. */
  readonly #parts: number[] = []
  #count: number
  #ended = 0
  #startedAt: number | undefined

  /** @param now milliseconds */
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

  /** Undefined: nobody knows. */
  get secondsLeft(): number | undefined {
    const { part } = this
    if (this.#startedAt === undefined || part < PART_MIN) return undefined
    return ((this.#now() - this.#startedAt) * (1 - part)) / part / 1_000
  }

  /** The work on one file. A file that ends without any was done before: it counts no more. */
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
