/**
 * Keeps a search's measurements, one line each: it continues from them. A search that is begun
 * again reads them, and so comes to where it was.
 */

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'

/** The question of a search, by which its measurements are comparable. */
export type Header = Readonly<Record<string, unknown>>

export interface Run {
  /** Names a measurement: equal keys, equal measurements. */
  key: Readonly<Record<string, unknown>>
  /** Seconds of measuring since the search began, this included. */
  elapsed_seconds: number
  load1: number
  result: unknown
}

/** Thrown instead of a measurement when this piece of the search is over. */
export class PieceEnded extends Error {}

interface JournalOptions {
  header: Header
  /** True if measurements that are there are taken. */
  resume: boolean
  /** Length of this piece; then `run` throws PieceEnded. */
  secondsMax?: number
  load1: () => number
}

export class Journal {
  readonly #path: string
  readonly #runs = new Map<string, Run>()
  readonly #options: JournalOptions
  readonly #startedAt = performance.now()
  #elapsed = 0

  /** @throws Error when there are measurements of another search, or nobody said what of them */
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

  /** Seconds of measuring, by what was measured so far in this order. */
  get elapsedSeconds(): number {
    return this.#elapsed
  }

  get runs(): Run[] {
    return [...this.#runs.values()]
  }

  has(key: Run['key']): boolean {
    return this.#runs.has(JSON.stringify(key))
  }

  /** The result under this key, measured now unless it is there. */
  async run<T>(key: Run['key'], measure: () => Promise<T>): Promise<T> {
    const known = this.#runs.get(JSON.stringify(key))
    if (known) {
      this.#elapsed = Math.max(this.#elapsed, known.elapsed_seconds)
      return known.result as T
    }
    const { secondsMax = Infinity, load1 } = this.#options
    const startedAt = performance.now()
    if (startedAt - this.#startedAt > 1_000 * secondsMax) throw new PieceEnded()
    const result = await measure()
    this.#elapsed += (performance.now() - startedAt) / 1_000
    const run: Run = { key, elapsed_seconds: this.#elapsed, load1: load1(), result }
    this.#runs.set(JSON.stringify(key), run)
    appendFileSync(this.#path, `${JSON.stringify(run)}\n`)
    return result
  }
}

/** A line that was cut off by a crash is left out. */
export function readJournal(path: string): { header: Header; runs: Run[] } {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const [header, ...runs] = lines.map((line) => JSON.parse(line) as unknown)
  return { header: header as Header, runs: runs as Run[] }
}
