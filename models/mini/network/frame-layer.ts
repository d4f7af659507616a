/** A transformer layer on the frame stream, conditioned on the prompt (FrameLayer). */
import {
  attend,
  keyBias,
  loadGainedLinear,
  loadLinear,
  loadSwiGlu,
  mergeHeads,
  normalizeLength,
  readLengthGain,
} from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'
import { loadModulation, modulate } from './modulation.ts'
import { loadTimeConv } from './time-conv.ts'

const KERNEL_TOKENS = 7

/**
 * Takes z [batch, tokens, frameDim]; `code` [batch, codeDim], or null in a layer without
 * conditioning; `valid` [batch, tokens], 1 or 0, or null if every token is valid.
 */
export function loadFrameLayer(weights: Weights, config: MiniConfig, conditioned: boolean) {
  const { frameDim, heads, codeDim } = config
  const conv = loadTimeConv(weights.at('time_convolution'), tf.ones([frameDim]), KERNEL_TOKENS)
  const gains = ['attention_norm', 'feed_forward_norm'].map((norm) =>
    readLengthGain(weights.at(norm), frameDim),
  ) as [Tensor, Tensor]
  // Without conditioning the gains are folded into the next matrices; with it, into the scales.
  const qkv = weights.at('qkv')
  const project = conditioned
    ? loadLinear(qkv, frameDim, 3 * frameDim)
    : loadGainedLinear(qkv, gains[0], frameDim, 3 * frameDim)
  const merge = loadLinear(weights.at('output'), frameDim, frameDim)
  const gain = conditioned ? undefined : gains[1]
  const feedForward = loadSwiGlu(weights.at('feed_forward'), frameDim, 2 * frameDim, gain)
  const modulation = conditioned
    ? loadModulation(weights.at('modulation'), codeDim, { gains, rank: 3 })
    : null

  const attention = (x: Tensor, valid: Tensor | null) =>
    tf.tidy(() => {
      const [batch, tokens] = x.shape as [number, number]
      const split = project(x).reshape([batch, tokens, 3, heads, frameDim / heads])
      const [q, k, v] = tf.unstack(split.transpose([2, 0, 3, 1, 4])) as [Tensor, Tensor, Tensor]
      const attended = attend(q, k, v, valid && keyBias(valid)) // [batch, heads, tokens, headDim]
      return merge(mergeHeads(attended)) // [batch, tokens, frameDim]
    })

  return (z: Tensor, code: Tensor | null, valid: Tensor | null): Tensor =>
    tf.tidy(() => {
      const vectors = code && modulation ? modulation(code) : null
      const condition = (x: Tensor, place: number) =>
        vectors ? modulate(normalizeLength(x), vectors[place]!) : normalizeLength(x)
      const masked = valid ? z.mul(valid.expandDims(-1)) : z
      const mixed = conv(masked.expandDims(2)).squeeze([2])
      const attended = mixed.add(attention(condition(mixed, 0), valid))
      return attended.add(feedForward(condition(attended, 1))) // [batch, tokens, frameDim]
    })
}
