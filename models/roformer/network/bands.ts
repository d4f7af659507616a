/** Converts between the bins of a spectrum and the bands of the network. */
import { glu, loadLinear, type Layer } from '../../layers/layers.ts'
import { pad, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { RoformerConfig } from '../config.ts'
import { loadNorm } from './norm.ts'

/** Returns how many numbers a bin has: the real and imaginary part of each channel. */
const numbersPerBin = ({ audioChannels }: RoformerConfig): number => 2 * audioChannels

/**
 * Loads the split of a spectrum [batch, frames, bins · numbersPerBin] to [batch, frames, bands,
 * dim].
 */
export function loadBandSplit(weights: Weights, config: RoformerConfig): Layer {
  const perBin = numbersPerBin(config)
  const layers = config.bands.map(({ bins }, i) => {
    const features = weights.at('to_features').at(i)
    const norm = loadNorm(features.at(0), bins * perBin)
    const linear = loadLinear(features.at(1), bins * perBin, config.dim)
    return (x: Tensor) => linear(norm(x))
  })
  return (spectrum) =>
    tf.tidy(() =>
      tf.stack(
        config.bands.map(({ start, bins }, i) =>
          layers[i]!(tf.slice(spectrum, [0, 0, start * perBin], [-1, -1, bins * perBin])),
        ),
        2,
      ),
    )
}

/** Loads the layers from x [batch, frames, bands, dim] to the concatenated masks of all bands. */
export function loadMaskEstimator(weights: Weights, config: RoformerConfig): Layer {
  const perBin = numbersPerBin(config)
  const layers = config.bands.map(({ bins }, i) =>
    loadMask(weights.at('to_freqs').at(i).at(0), config.dim, bins * perBin),
  )
  return (x) =>
    tf.tidy(() =>
      tf.concat(
        layers.map((layer, i) => layer(tf.slice(x, [0, 0, i, 0], [-1, -1, 1, -1]).squeeze([2]))),
        -1,
      ),
    )
}

/** Loads linear layers with tanh in between and a gate: [batch, frames, dim] to [.., width]. */
function loadMask(weights: Weights, dim: number, width: number): Layer {
  const layers: Layer[] = []
  let inDim = dim
  for (let i = 0; weights.has(`${i}.weight`); i += 2) {
    const [outDim = 0] = weights.at(i).shapeOf('weight')
    layers.push(loadLinear(weights.at(i), inDim, outDim))
    inDim = outDim
  }
  if (inDim !== 2 * width) {
    throw new Error(`The mask of a band with ${width} numbers has ${inDim}, not twice as many`)
  }
  return (x) =>
    tf.tidy(() => {
      const last = layers.length - 1
      return glu(layers.reduce((y, layer, i) => (i < last ? layer(y).tanh() : layer(y)), x))
    })
}

/**
 * Averages the masks of all bands that contain a bin: from the concatenated masks of all bands to
 * [batch, frames, bins · numbersPerBin].
 */
export function bandJoin(config: RoformerConfig): Layer {
  const { bands, window } = config
  const perBin = numbersPerBin(config)
  const total = window / 2 + 1
  const counts = new Float32Array(total)
  for (const { start, bins } of bands) {
    for (let bin = start; bin < start + bins; bin += 1) counts[bin]! += 1
  }
  const shares = tf.tensor1d(Array.from(counts, (count) => 1 / Math.max(1, count)))
  return (masks) =>
    tf.tidy(() => {
      let from = 0
      const placed = bands.map(({ start, bins }) => {
        const mask = tf.slice(masks, [0, 0, from * perBin], [-1, -1, bins * perBin])
        from += bins
        return pad(mask, { 2: [start * perBin, (total - start - bins) * perBin] })
      })
      const sum = tf.addN(placed)
      const [batch, frames] = sum.shape as [number, number, number]
      const byBin: Tensor = sum.reshape([batch, frames, total, perBin]).mul(shares.expandDims(-1))
      return byBin.reshape([batch, frames, total * perBin])
    })
}
