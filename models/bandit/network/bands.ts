/** Between the bins of a spectrum and the bands of the network. */
import { bandJoin } from '../../layers/band-join.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { glu, loadLayerNorm, loadLinear, type Layer } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { BanditConfig } from '../config.ts'

/** Real and imaginary part. */
const PER_BIN = 2

/** As torch.nn.LayerNorm has it. */
export const EPSILON = 1e-5

/** spectrum [batch, frames, bins · 2] to [batch, bands, frames, dim]. */
export function loadBandSplit(weights: Weights, { bands, dim }: BanditConfig): Layer {
  const layers = bands.map(({ bins }, i) => {
    const combined = weights.at(i).at('combined')
    const norm = loadLayerNorm(combined.at(0), PER_BIN * bins, EPSILON)
    const linear = loadLinear(combined.at(1), PER_BIN * bins, dim)
    return (x: Tensor) => linear(norm(x))
  })
  return (spectrum) =>
    tf.tidy(() =>
      tf.stack(
        bands.map(({ start, bins }, i) =>
          layers[i]!(tf.slice(spectrum, [0, 0, start * PER_BIN], [-1, -1, bins * PER_BIN])),
        ),
        1,
      ),
    )
}

/** x [batch, bands, frames, dim] to a mask [batch, frames, bins · 2]. */
export function loadMaskEstimator(weights: Weights, config: BanditConfig): Layer {
  const { bands, dim, maskDim } = config
  const layers = bands.map(({ bins }, i): Layer => {
    const band = weights.at(i)
    const norm = loadLayerNorm(band.at('norm'), dim, EPSILON)
    const hidden = loadLinear(band.at('hidden').at(0), dim, maskDim)
    const output = loadLinear(band.at('output').at(0), maskDim, 2 * PER_BIN * bins)
    return (x) => tf.tidy(() => glu(output(hidden(norm(x)).tanh())))
  })
  const join = bandJoin(config, PER_BIN)
  return (x) =>
    tf.tidy(() => {
      const masks = layers.map((layer, i) =>
        layer(tf.slice(x, [0, i, 0, 0], [-1, 1, -1, -1]).squeeze([1])),
      )
      return join(tf.concat(masks, -1))
    })
}
