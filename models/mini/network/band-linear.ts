/**
 * A linear map for each band; adjacent bands of one width share a batched product (GroupLinear).
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/** Adjacent bands of one width. */
export interface BandRun {
  /** The first band, and how many there are. */
  start: number
  count: number
  /** Bins in each band. */
  width: number
}

export function runsOf(bands: readonly number[]): BandRun[] {
  const runs: BandRun[] = []
  for (const [band, width] of bands.entries()) {
    const last = runs.at(-1)
    if (last?.width === width) last.count += 1
    else runs.push({ start: band, count: 1, width })
  }
  return runs
}

/** Loads run `index` of the weights: maps [count, rows, inDim] to [count, rows, outDim]. */
export function loadBandLinear(
  weights: Weights,
  index: number,
  [count, inDim, outDim]: readonly [number, number, number],
) {
  const kernel = weights.at('weights').get(String(index), [count, inDim, outDim])
  const bias = weights.at('biases').get(String(index), [count, 1, outDim])
  return (x: Tensor): Tensor => tf.tidy(() => tf.matMul(x, kernel).add(bias))
}
