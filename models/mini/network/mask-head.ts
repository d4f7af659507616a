/** Computes the mask of each band from its channels of the band stream (MaskHead). */
import { silu } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadBandLinear, runsOf } from './band-linear.ts'
import { PATCH, type MiniConfig } from '../config.ts'

/** Maps x [batch, tokens, bands, bandDim] to logits [batch, PATCH · tokens, bins + 1]. */
export function loadMaskHead(weights: Weights, { bands, bandDim, headDim }: MiniConfig) {
  const hidden = loadBandLinear(weights.at('hidden'), 0, [bands.length, bandDim, headDim])
  const runs = runsOf(bands).map((run, index) => {
    const shape = [run.count, headDim, PATCH * run.width] as const
    return { ...run, project: loadBandLinear(weights.at('output'), index, shape) }
  })
  return (x: Tensor): Tensor =>
    tf.tidy(() => {
      const [batch, tokens] = x.shape as [number, number]
      const rows = batch * tokens
      const byBand = x.transpose([2, 0, 1, 3]).reshape([bands.length, rows, bandDim])
      const activation = silu(hidden(byBand)) // [bands, rows, headDim]
      const parts = runs.map(({ start, count, width, project }) => {
        const logits = project(tf.slice(activation, [start, 0, 0], [count, -1, -1]))
        return logits
          .reshape([count, rows, PATCH, width])
          .transpose([1, 2, 0, 3])
          .reshape([batch, PATCH * tokens, count * width])
      })
      const logits = tf.concat(parts, -1) // [batch, PATCH · tokens, bins]
      const nyquist = tf.slice(logits, [0, 0, logits.shape[2]! - 1], [-1, -1, 1])
      // No band contains the bin at half the sample rate, so it takes the mask of the last bin.
      return tf.concat([logits, nyquist], -1)
    })
}
