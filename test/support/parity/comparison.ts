/** The difference between a result of this port and the reference's. */

export interface Comparison {
  /** The file of the reference, and what in it. */
  file: string
  name: string
  /** In what company the reference made it, such as `as batched there` or `row 0 alone`. */
  against: string
  /** The largest difference; of what must be exact, how many items differ. */
  error: number
  /** The largest that is allowed. */
  allowed: number
}

type Numbers = Float32Array | Int32Array | readonly number[]

/** A value that is no number counts as infinitely wrong, and so does another length. */
export function largestDifference(actual: Numbers, expected: Numbers): number {
  if (actual.length !== expected.length) return Infinity
  let worst = 0
  for (let i = 0; i < expected.length; i += 1) {
    const difference = Math.abs(actual[i]! - expected[i]!)
    if (Number.isNaN(difference)) return Infinity
    worst = Math.max(worst, difference)
  }
  return worst
}

/** Compares lists whose items must be equal. */
export function compareExactly(
  file: string,
  name: string,
  actual: readonly unknown[],
  expected: readonly unknown[],
): Comparison {
  const different = expected.filter((item, i) => JSON.stringify(item) !== JSON.stringify(actual[i]))
  const error = actual.length === expected.length ? different.length : Infinity
  return { file, name, against: `${expected.length} exact items`, error, allowed: 0 }
}

export const agrees = ({ error, allowed }: Comparison): boolean => error <= allowed
