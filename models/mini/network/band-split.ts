/** Cuts the bins of each token into bands and maps each band to the band stream (BandSplit). */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadBandLinear, runsOf } from './band-linear.ts'
import { PATCH, type MiniConfig } from '../config.ts'

/** Maps features [batch, tokens, PATCH, bins] to [batch, tokens, bands, bandDim]. */
export function loadBandSplit(weights: Weights, { bands, bandDim }: MiniConfig) {
  let bin = 0
  const runs = runsOf(bands).map(({ count, width }, index) => {
    const project = loadBandLinear(weights, index, [count, PATCH * width, bandDim])
    const start = bin
    bin += count * width
    return { start, count, width, project }
  })
  return (features: Tensor): Tensor =>
    tf.tidy(() => {
      const [batch, tokens] = features.shape as [number, number]
      const rows = batch * tokens
      const parts = runs.map(({ start, count, width, project }) => {
        const bins = tf.slice(features, [0, 0, 0, start], [-1, -1, -1, count * width])
        const byBand = bins.reshape([rows, PATCH, count, width]).transpose([2, 0, 1, 3])
        return project(byBand.reshape([count, rows, PATCH * width])) // [count, rows, bandDim]
      })
      const stream = tf.concat(parts, 0).reshape([bands.length, batch, tokens, bandDim])
      return stream.transpose([1, 2, 0, 3]) // [batch, tokens, bands, bandDim]
    })
}
