/**
 * Two streams that exchange a projection of each other, and then each pass a layer of their own
 * (Block).
 */
import {
  loadGainedLinear,
  loadLinear,
  normalizeLength,
  readLengthGain,
} from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadBandLayer } from './band-layer.ts'
import type { MiniConfig } from '../config.ts'
import { loadFrameLayer } from './frame-layer.ts'

export interface Streams {
  /** The band stream, [batch, tokens, bands, bandDim]. */
  x: Tensor
  /** The frame stream, [batch, tokens, frameDim]. */
  z: Tensor
}

/**
 * Takes `code` [batch, codeDim] or null, and `valid` [batch, tokens] or null, as in the frame
 * layer.
 */
export function loadHybridBlock(weights: Weights, config: MiniConfig, conditioned: boolean) {
  const { bandDim, frameDim, exchangeDim } = config
  const bands = config.bands.length
  const gainOf = (norm: string, dim: number) => readLengthGain(weights.at(norm), dim)
  const narrow = loadGainedLinear(
    weights.at('band_to_exchange'),
    gainOf('band_norm', bandDim),
    bandDim,
    exchangeDim,
  )
  const toFrames = loadLinear(weights.at('exchange_to_frame'), bands * exchangeDim, frameDim)
  const frameLayer = loadFrameLayer(weights.at('frame_layer'), config, conditioned)
  const toBands = loadGainedLinear(
    weights.at('frame_to_exchange'),
    gainOf('frame_norm', frameDim),
    frameDim,
    bands * exchangeDim,
  )
  const widen = loadLinear(weights.at('exchange_to_band'), exchangeDim, bandDim)
  const bandLayer = loadBandLayer(weights.at('band_layer'), config, conditioned)

  return ({ x, z }: Streams, code: Tensor | null, valid: Tensor | null): Streams =>
    tf.tidy(() => {
      const [batch, tokens] = z.shape as [number, number]
      const summary = narrow(normalizeLength(x)).reshape([batch, tokens, bands * exchangeDim])
      const frames = frameLayer(z.add(toFrames(summary)), code, valid)
      const update = toBands(normalizeLength(frames)).reshape([batch, tokens, bands, exchangeDim])
      return { x: bandLayer(x.add(widen(update)), code, valid), z: frames }
    })
}
