/** Comparisons whose tensors are freed. */
import { tf } from '../../models/tensor.ts'
import type { Comparison } from './comparison.ts'

/** What `compare` returns; every tensor that it made is freed. */
export function tidied(compare: () => Comparison[]): Comparison[] {
  let comparisons: Comparison[] = []
  tf.tidy(() => {
    comparisons = compare()
  })
  return comparisons
}
