/** The two streams tell each other what they know, then each goes its own way (Block). */
import { loadGainedLinear, loadLinear, rmsNormalize } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
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

/** code [batch, codeDim] or null; valid [batch, tokens] or null, as in the frame layer. */
export function loadHybridBlock(weights: Weights, config: MiniConfig, conditioned: boolean) {
  const { bandDim, frameDim, exchangeDim } = config
  const bands = config.bands.length
  const gainOf = (norm: string, dim: number) => weights.at(norm).get('g', [dim])
  const narrow = loadGainedLinear(weights.at('dn'), gainOf('n', bandDim), bandDim, exchangeDim)
  const toFrames = loadLinear(weights.at('tz'), bands * exchangeDim, frameDim)
  const frameLayer = loadFrameLayer(weights.at('fl'), config, conditioned)
  const toBands = loadGainedLinear(
    weights.at('fr'),
    gainOf('fn', frameDim),
    frameDim,
    bands * exchangeDim,
  )
  const widen = loadLinear(weights.at('up'), exchangeDim, bandDim)
  const bandLayer = loadBandLayer(weights.at('bl'), config, conditioned)

  return ({ x, z }: Streams, code: Tensor | null, valid: Tensor | null): Streams =>
    tf.tidy(() => {
      const [batch, tokens] = z.shape as [number, number]
      const summary = narrow(rmsNormalize(x)).reshape([batch, tokens, bands * exchangeDim])
      const frames = frameLayer(z.add(toFrames(summary)), code, valid)
      const news = toBands(rmsNormalize(frames)).reshape([batch, tokens, bands, exchangeDim])
      return { x: bandLayer(x.add(widen(news)), code, valid), z: frames }
    })
}
