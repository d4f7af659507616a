/** Each band's own linear map, neighbours of one width in one batched product (GroupLinear). */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/** Neighbouring bands of one width. */
export interface BandRun {
  /** First band, and how many. */
  start: number
  count: number
  /** Bins of each. */
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

/** Run number `index` of the weights: [count, rows, inDim] to [count, rows, outDim]. */
export function loadBandLinear(
  weights: Weights,
  index: number,
  [count, inDim, outDim]: readonly [number, number, number],
) {
  const kernel = weights.at('weights').get(String(index), [count, inDim, outDim])
  const bias = weights.at('biases').get(String(index), [count, 1, outDim])
  return (x: Tensor): Tensor => tf.tidy(() => tf.matMul(x, kernel).add(bias))
}
