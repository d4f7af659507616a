/** Keeps the log lines of one event within the number that an event may have. */

import { LOG_LINES_MAX, type LogLine } from '../../../shared/messages.ts'
import { shortText } from '../../../shared/short-text.ts'

const LAST_MAX = LOG_LINES_MAX / 2
/** One line between the first and the last says how many were left out. */
const FIRST_MAX = LOG_LINES_MAX - LAST_MAX - 1

/** Keeps the first and the last lines. */
export class LogLines {
  #first: LogLine[] = []
  #last: LogLine[] = []
  #leftOut = 0

  add({ timestamp, message }: LogLine): void {
    const line = { timestamp, message: shortText(message) }
    if (this.#first.length < FIRST_MAX) {
      this.#first.push(line)
      return
    }
    this.#last.push(line)
    if (this.#last.length <= LAST_MAX) return
    this.#last.shift()
    this.#leftOut += 1
  }

  /** Returns the lines added since the last call. */
  take(): LogLine[] {
    const [next] = this.#last
    const gap =
      next && this.#leftOut > 0
        ? [{ timestamp: next.timestamp, message: `${this.#leftOut} lines are left out here.` }]
        : []
    const lines = [...this.#first, ...gap, ...this.#last]
    this.#first = []
    this.#last = []
    this.#leftOut = 0
    return lines
  }
}
