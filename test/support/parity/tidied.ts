import { tf } from '../../../models/tensorflow/tensor.ts'
import type { Comparison } from './comparison.ts'

/** Returns the result of `compare`, and frees every tensor that `compare` made. */
export function withTidy(compare: () => Comparison[]): Comparison[] {
  let comparisons: Comparison[] = []
  tf.tidy(() => {
    comparisons = compare()
  })
  return comparisons
}
