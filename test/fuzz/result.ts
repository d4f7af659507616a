/** Options and result of a fuzzer. */

export interface FuzzOptions {
  cases: number
  seed: number
  /** Called after each case with its outcome. */
  onCase?(end: string): void
}

export interface FuzzResult {
  seed: number
  cases: number
  /** Number of cases by outcome. */
  ends: Readonly<Record<string, number>>
}
