/** An encoder: reduces the bins, low ones less than high ones (SDblock). */
import { gelu, glu, loadPointwise, silu, type Layer } from '../../layers/layers.ts'
import { loadGroupNorm } from '../../layers/norms.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { levelLengths, type BandLengths, type BandSizes, type ScnetConfig } from '../config.ts'
import {
  loadDepthwise,
  loadDownsampling,
  loadNeighbourhood,
  loadOverFrames,
} from './convolution.ts'

/** Output of an encoder, both [batch, bins, frames, channels]. */
export interface EncoderOutput {
  output: Tensor
  /** State before the last convolution, for the decoder. */
  skip: Tensor
}

/** @param level from 0 */
export function loadEncoder(weights: Weights, level: number, config: ScnetConfig) {
  const [inDim, outDim] = config.dims.slice(level, level + 2) as [number, number]
  const convs = weights.at('SDlayer').at('convs')
  const modules = weights.at('conv_modules')
  const bands = config.bands.map((sizes, i) => ({
    downsample: loadDownsampling(convs.at(i), sizes, inDim, outDim),
    residual: loadResidualLayers(modules.at(i), sizes, outDim, config),
  }))
  const global = loadNeighbourhood(weights.at('globalconv'), outDim, outDim)

  const { before } = levelLengths(config)[level]!

  /** Splits x [batch, bins, frames, in] into its bands, with fewer bins (SDlayer). */
  const downsample = (x: Tensor): Tensor[] =>
    tf.tidy(() => splitBands(x, before).map((part, i) => bands[i]!.downsample(part)))

  const forward = (x: Tensor): EncoderOutput =>
    tf.tidy(() => {
      const parts = downsample(x).map((part, i) => gelu(bands[i]!.residual.forward(part)))
      const skip = tf.concat(parts, 1)
      return { skip, output: global(skip) }
    })

  return { bands, downsample, forward }
}

/** Splits x [batch, bins, frames, channels] into low, mid and high bins. */
export const splitBands = (x: Tensor, lengths: BandLengths): Tensor[] =>
  tf.split(x, [...lengths], 1)

/**
 * Loads residual layers over frames, for each bin separately; they keep the shape
 * (ConvolutionModule).
 */
function loadResidualLayers(
  weights: Weights,
  { depth }: BandSizes,
  dim: number,
  { compression, residualKernel: places }: ScnetConfig,
) {
  const hidden = Math.floor(dim / compression)
  const layers = Array.from({ length: depth }, (_, i): Layer => {
    const steps = weights.at('layers').at(i)
    const norm = loadGroupNorm(steps.at(0), dim, [2, 3])
    const narrow = loadOverFrames(steps.at(1), dim, 2 * hidden, places)
    const depthwise = loadDepthwise(steps.at(3), hidden, places)
    const innerNorm = loadGroupNorm(steps.at(4), hidden, [2, 3])
    const widen = loadPointwise(steps.at(6), hidden, dim, 1)
    return (x) => tf.tidy(() => x.add(widen(silu(innerNorm(depthwise(glu(narrow(norm(x)))))))))
  })
  const forward: Layer = (x) => tf.tidy(() => layers.reduce((y, layer) => layer(y), x.clone()))
  return { layers, forward }
}
