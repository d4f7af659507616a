/** Options of the programme: realistic shapes for a GPU, or tiny ones for a CPU. */

export interface Options {
  /** SAM-Audio's published sizes, or `tiny`, the size of the tests. */
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
  /** Limit for each part, including the start of its process. */
  limitSeconds: number
  /** A Python interpreter that has PyTorch; empty if the transformer is not compared with it. */
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

/** Takes seconds on two cores. It only shows that the programme runs, and says nothing of speed. */
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

/** The content of one cell of a table. */
export type Cell = string | number | boolean | null

export type Row = Readonly<Record<string, Cell>>

export interface PartReport {
  rows: Row[]
  notes?: string[]
}

/**
 * Yields each row, or a note as text, as soon as it exists, so that it is kept whatever happens
 * next.
 * @param hasTime whether another case may begin
 */
export type Run = (options: Options, hasTime: () => boolean) => AsyncGenerator<Row | string, void>

export interface Part {
  /** The part's question, in a few words. */
  title: string
  /** Time limit on a GPU host, after which its process is killed. */
  secondsMax: number
  /** Added to the environment of its process. */
  env?: Readonly<Record<string, string>>
  load(): Promise<Run>
}
