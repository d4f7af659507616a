/**
 * Stores a search's measurements, one per line. A search that is started again reads them instead
 * of measuring, and so gets back to where it was.
 */

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The parameters of a search; only measurements with equal parameters are comparable. */
export type Header = Readonly<Record<string, unknown>>

export interface Run {
  /** Identifies a measurement. */
  key: Readonly<Record<string, unknown>>
  /** Seconds of measuring since the search began, including this one. */
  elapsed_seconds: number
  load1: number
  result: unknown
}

interface JournalOptions {
  header: Header
  /** Whether to continue from existing measurements. */
  resume: boolean
  load1: () => number
}

export class Journal {
  readonly #path: string
  readonly #runs = new Map<string, Run>()
  readonly #options: JournalOptions
  #elapsed = 0

  /** @throws Error if measurements exist and `resume` is not set, or their parameters differ */
  constructor(path: string, options: JournalOptions) {
    this.#path = path
    this.#options = options
    if (existsSync(path)) {
      if (!options.resume) throw new Error(`${path} is there: --resume, or another --out`)
      const { header, runs } = readJournal(path)
      const other = Object.keys({ ...header, ...options.header }).filter(
        (name) => JSON.stringify(header[name]) !== JSON.stringify(options.header[name]),
      )
      if (other.length > 0) throw new Error(`${path} has another ${other.join(', ')}`)
      for (const run of runs) this.#runs.set(JSON.stringify(run.key), run)
    } else {
      writeFileSync(path, `${JSON.stringify(options.header)}\n`)
    }
  }

  /** Seconds of measuring, up to the last result that `run` returned. */
  get elapsedSeconds(): number {
    return this.#elapsed
  }

  get runs(): Run[] {
    return [...this.#runs.values()]
  }

  /** Returns the result for this key, measured now unless it exists. */
  async run<T>(key: Run['key'], measure: () => Promise<T>): Promise<T> {
    const stored = this.#runs.get(JSON.stringify(key))
    if (stored) {
      this.#elapsed = Math.max(this.#elapsed, stored.elapsed_seconds)
      return stored.result as T
    }
    const startedAt = performance.now()
    const result = await measure()
    this.#elapsed += (performance.now() - startedAt) / 1_000
    const load1 = this.#options.load1()
    const run: Run = { key, elapsed_seconds: this.#elapsed, load1, result }
    this.#runs.set(JSON.stringify(key), run)
    appendFileSync(this.#path, `${JSON.stringify(run)}\n`)
    return result
  }
}

/** Reads a journal, without a last line that a crash cut off. */
export function readJournal(path: string): { header: Header; runs: Run[] } {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const [header, ...runs] = lines.map((line) => JSON.parse(line) as unknown)
  return { header: header as Header, runs: runs as Run[] }
}
