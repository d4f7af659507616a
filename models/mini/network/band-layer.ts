/** A local layer on the band stream: along time, then within each band (BandLayer). */
import { loadSwiGlu, rmsNormalize } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'
import { loadModulation, modulate } from './modulation.ts'
import { loadTimeConv } from './time-conv.ts'

const KERNEL_TOKENS = 5

/** x [batch, tokens, bands, bandDim]; code and valid as in the frame layer. */
export function loadBandLayer(weights: Weights, config: MiniConfig, conditioned: boolean) {
  const { bandDim, codeDim } = config
  const gain = weights.at('band_norm').get('gain', [bandDim])
  const conv = loadTimeConv(weights.at('time_convolution'), gain, KERNEL_TOKENS)
  const feedForward = loadSwiGlu(weights.at('feed_forward'), bandDim, 2 * bandDim)
  const two = { dim: bandDim, count: 2, rank: 4 }
  const modulation = conditioned ? loadModulation(weights.at('modulation'), codeDim, two) : null

  return (x: Tensor, code: Tensor | null, valid: Tensor | null): Tensor =>
    tf.tidy(() => {
      const normal = rmsNormalize(x)
      const mixed = conv(valid ? normal.mul(valid.expandDims(-1).expandDims(-1)) : normal)
      const [scale, shift] = code && modulation ? modulation(code) : []
      return x.add(feedForward(scale && shift ? modulate(mixed, scale, shift) : mixed))
    })
}
