/**
 * Keeps a status line at the end of a terminal, which is rewritten; all other lines go above it.
 */

export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** All that a line of text needs. */
export interface Writer {
  write(text: string): unknown
}

/** Width of terminals that report none. */
const COLUMNS = 80
const CLEAR_LINE = '\r\x1b[K'

export class StatusLine {
  readonly #output: Output
  #text = ''

  constructor(output: Output) {
    this.#output = output
  }

  /** Shows as much of the text as the line holds. */
  show(text: string): void {
    const shown = text.slice(0, (this.#output.columns ?? COLUMNS) - 1)
    if (shown === this.#text) return
    this.#text = shown
    this.#output.write(CLEAR_LINE + shown)
  }

  /** An output whose lines are whole, and leave this one at the end. */
  above(other: Writer): Writer {
    return {
      write: (lines: string) => {
        this.#output.write(CLEAR_LINE)
        other.write(lines)
        return this.#output.write(this.#text)
      },
    }
  }

  clear(): void {
    this.show('')
  }
}
