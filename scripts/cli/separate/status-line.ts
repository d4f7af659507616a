/**
 * Keeps a status line at the bottom of a terminal, which is rewritten; all other lines go above it.
 */

export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }

/** What is needed to write lines of text. */
export interface Writer {
  write(text: string): unknown
}

/** Assumed width of terminals that report none. */
const COLUMNS = 80
const CLEAR_LINE = '\r\x1b[K'

export class StatusLine {
  readonly #output: Output
  #text = ''

  constructor(output: Output) {
    this.#output = output
  }

  /** Shows as much of the text as fits the line. */
  show(text: string): void {
    const shown = text.slice(0, (this.#output.columns ?? COLUMNS) - 1)
    if (shown === this.#text) return
    this.#text = shown
    this.#output.write(CLEAR_LINE + shown)
  }

  /** An output for whole lines, which keeps this line at the bottom. */
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
