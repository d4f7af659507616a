/** What the programme is run with: shapes as a GPU deserves them, or tiny ones on a processor. */

export interface Options {
  /** Of SAM-Audio's published ones, or `tiny`, the tests' own. */
  sizes: readonly string[]
  /** Lanes of a batch. */
  batches: readonly number[]
  /** Of each chunk and file. */
  seconds: number
  /** Requests at once. */
  requests: readonly number[]
  soakSeconds: number
  /** An interpreter that has PyTorch; empty: none. */
  pytorch: string
}

export const ON_GPU: Options = {
  sizes: ['small', 'base', 'large'],
  batches: [1, 2, 4, 8, 16, 32, 64],
  seconds: 10,
  requests: [1, 4, 16, 64],
  soakSeconds: 60,
  pytorch: '',
}

/** Seconds on two cores: it shows that the programme runs, and says nothing of speed. */
export const ON_PROCESSOR: Options = {
  sizes: ['tiny'],
  batches: [1, 2],
  seconds: 1,
  requests: [1, 2],
  soakSeconds: 3,
  pytorch: '',
}

/** A cell is what a table shows. */
export type Cell = string | number | boolean | null

export type Row = Readonly<Record<string, Cell>>

/** What a part found. */
export interface Found {
  rows: Row[]
  notes?: string[]
}

/** @param hasTime whether another case may begin */
export type Run = (options: Options, hasTime: () => boolean) => Promise<Found>

export interface Part {
  /** What it asks, in a few words. */
  title: string
  /** On a GPU host; then it is ended. */
  secondsMax: number
  /** For its process. */
  env?: Readonly<Record<string, string>>
  load(): Promise<Run>
}
