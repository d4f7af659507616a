/** A transformer layer on the frame stream, told by the prompt what to listen for (FrameLayer). */
import { attend, keyBias, loadLinear, loadRmsNorm, loadSwiGlu, mergeHeads } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'
import { loadModulation, modulate } from './modulation.ts'
import { loadTimeConv } from './time-conv.ts'

const KERNEL_TOKENS = 7

/**
 * z [batch, tokens, frameDim]; code [batch, codeDim], null in a layer that knows no prompt;
 * valid [batch, tokens] 1 or 0, null when every token counts.
 */
export function loadFrameLayer(weights: Weights, config: MiniConfig, conditioned: boolean) {
  const { frameDim, heads, codeDim } = config
  const conv = loadTimeConv(weights.at('dw'), tf.ones([frameDim]), KERNEL_TOKENS)
  const norm1 = loadRmsNorm(weights.at('n1'), frameDim)
  const norm2 = loadRmsNorm(weights.at('n2'), frameDim)
  const project = loadLinear(weights.at('qkv'), frameDim, 3 * frameDim)
  const merge = loadLinear(weights.at('o'), frameDim, frameDim)
  const feedForward = loadSwiGlu(weights.at('f'), frameDim, 2 * frameDim)
  const four = { dim: frameDim, count: 4, rank: 3 }
  const modulation = conditioned ? loadModulation(weights.at('m'), codeDim, four) : null

  const attention = (x: Tensor, valid: Tensor | null) =>
    tf.tidy(() => {
      const [batch, tokens] = x.shape as [number, number]
      const split = project(x).reshape([batch, tokens, 3, heads, frameDim / heads])
      const [q, k, v] = tf.unstack(split.transpose([2, 0, 3, 1, 4])) as [Tensor, Tensor, Tensor]
      const heard = attend(q, k, v, valid && keyBias(valid)) // [batch, heads, tokens, headDim]
      return merge(mergeHeads(heard)) // [batch, tokens, frameDim]
    })

  return (z: Tensor, code: Tensor | null, valid: Tensor | null): Tensor =>
    tf.tidy(() => {
      const vectors = code && modulation ? modulation(code) : null
      const told = (x: Tensor, first: number) =>
        vectors ? modulate(x, vectors[first]!, vectors[first + 1]!) : x
      const audible = valid ? z.mul(valid.expandDims(-1)) : z
      const mixed = conv(audible.expandDims(2)).squeeze([2])
      const heard = mixed.add(attention(told(norm1(mixed), 0), valid))
      return heard.add(feedForward(told(norm2(heard), 2))) // [batch, tokens, frameDim]
    })
}
