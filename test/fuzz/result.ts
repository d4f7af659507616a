/** A fuzzer's options and its result. */

export interface FuzzOptions {
  cases: number
  seed: number
  /** Called after each case with the way it ended. */
  onCase?(end: string): void
}

export interface FuzzResult {
  seed: number
  cases: number
  /** How many cases ended in which way. */
  ends: Readonly<Record<string, number>>
}
