/** Options of the programme: shapes as a GPU deserves them, or tiny ones on a processor. */

export interface Options {
  /** SAM-Audio's published sizes, or `tiny`, the tests' own. */
  sizes: readonly string[]
  /** Open models. */
  models: readonly string[]
  /** Lanes of a batch. */
  batches: readonly number[]
  /** Length of each chunk and file. */
  seconds: number
  /** Requests at once. */
  requests: readonly number[]
  /** Engines on the card at once, for whole requests. */
  engines: readonly number[]
  soakSeconds: number
  /** Longest part, the start of its process included. */
  limitSeconds: number
  /** An interpreter that has PyTorch; empty: none. */
  pytorch: string
}

export const ON_GPU: Options = {
  sizes: ['small', 'base', 'large'],
  models: ['htdemucs', 'audiosep', 'roformer'],
  batches: [1, 2, 4, 8, 16, 32, 64],
  seconds: 10,
  requests: [1, 4, 16, 64],
  engines: [1, 4],
  soakSeconds: 60,
  limitSeconds: 600,
  pytorch: '',
}

/** Seconds on two cores: it shows that the programme runs, and says nothing of speed. */
export const ON_PROCESSOR: Options = {
  sizes: ['tiny'],
  models: ['audiosep'],
  batches: [1, 2],
  seconds: 1,
  requests: [1, 2],
  engines: [1],
  soakSeconds: 3,
  limitSeconds: 600,
  pytorch: '',
}

/** A cell is what a table shows. */
export type Cell = string | number | boolean | null

export type Row = Readonly<Record<string, Cell>>

/** Result of a part. */
export interface PartReport {
  rows: Row[]
  notes?: string[]
}

/**
 * Yields each row, or a note as text, as soon as it is there: it is kept whatever comes after.
 * @param hasTime whether another case may begin
 */
export type Run = (options: Options, hasTime: () => boolean) => AsyncGenerator<Row | string, void>

export interface Part {
  /** Its question, in a few words. */
  title: string
  /** On a GPU host; then it is ended. */
  secondsMax: number
  /** For its process. */
  env?: Readonly<Record<string, string>>
  load(): Promise<Run>
}
