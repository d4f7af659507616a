/**
 * A local layer on the band stream: a convolution in time, then a feed-forward within each band
 * (BandLayer).
 */
import { loadSwiGlu, normalizeLength, readLengthGain } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'
import { loadModulation, modulate } from './modulation.ts'
import { loadTimeConv } from './time-conv.ts'

const KERNEL_TOKENS = 5

/** Takes x [batch, tokens, bands, bandDim]; `code` and `valid` are those of the frame layer. */
export function loadBandLayer(weights: Weights, config: MiniConfig, conditioned: boolean) {
  const { bandDim, codeDim } = config
  const gain = readLengthGain(weights.at('band_norm'), bandDim)
  const conv = loadTimeConv(weights.at('time_convolution'), gain, KERNEL_TOKENS)
  const feedForward = loadSwiGlu(weights.at('feed_forward'), bandDim, 2 * bandDim)
  const plain = { gains: [tf.ones([bandDim])], rank: 4 } // the gain is part of the convolution
  const modulation = conditioned ? loadModulation(weights.at('modulation'), codeDim, plain) : null

  return (x: Tensor, code: Tensor | null, valid: Tensor | null): Tensor =>
    tf.tidy(() => {
      const normal = normalizeLength(x)
      const mixed = conv(valid ? normal.mul(valid.expandDims(-1).expandDims(-1)) : normal)
      const vectors = code && modulation ? modulation(code)[0]! : null
      return x.add(feedForward(vectors ? modulate(mixed, vectors) : mixed))
    })
}
