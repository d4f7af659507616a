/** The difference between a result of this port and the reference's. */
import { tf } from '../../../models/tensorflow/tensor.ts'

export interface Comparison {
  /** File of the reference, and the tensor in it. */
  file: string
  name: string
  /** How the reference computed it, such as `as batched there` or `row 0 alone`. */
  against: string
  /** The largest difference; for exact values, the number of items that differ. */
  error: number
  /** The largest allowed difference. */
  allowed: number
}

type Numbers = Float32Array | Int32Array | readonly number[]

/** Returns the largest difference; infinite for NaN or different lengths. */
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

/** Returns the result of `compare`, and frees every tensor that `compare` made. */
export function withTidy(compare: () => Comparison[]): Comparison[] {
  let comparisons: Comparison[] = []
  tf.tidy(() => {
    comparisons = compare()
  })
  return comparisons
}
