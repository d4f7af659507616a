/** One layer of the flow network's transformer (DiTBlock). */
import { rmsNormalize } from '../layers.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'
import type { TransformerConfig } from './config.ts'
import { loadCrossAttention, type CrossMemory } from './cross-attention.ts'
import { loadFeedForward } from './feed-forward.ts'
import type { Rotary } from './rotary.ts'
import { loadSelfAttention } from './self-attention.ts'

export type TransformerBlock = ReturnType<typeof loadTransformerBlock>

/** What is the same for every layer of one evaluation. */
export interface Surroundings {
  rotary: Rotary
  /** What masks frames as keys, or null. */
  frameKeys: Tensor | null
  /** What masks the text as keys, or null. */
  textKeys: Tensor | null
}

export function loadTransformerBlock(weights: Weights, config: TransformerConfig) {
  const { dim, heads, feedForwardDim } = config
  const attention = loadSelfAttention(weights.at('attention'), dim, heads)
  const crossAttention = loadCrossAttention(weights.at('cross_attention'), dim, heads)
  const feedForward = loadFeedForward(
    weights.at('feed_forward'), { in: dim, hidden: feedForwardDim, out: dim })
  const attentionGain = weights.at('attention_norm').get('weight', [dim])
  const feedForwardGain = weights.at('ffn_norm').get('weight', [dim])
  const table = tf.tidy(() => weights.get('scale_shift_table', [6, dim]).add(unitScales(dim)))

  /** time [batch, 6, dim] to six of [batch, 1, dim]: shift, scale and gate, twice. */
  const modulations = (time: Tensor) =>
    tf.split(time.add(table), 6, 1) as [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]

  /** x [batch, frames, dim] to the same; time [batch, 6, dim]. */
  const forward = (
    x: Tensor, time: Tensor, memory: CrossMemory,
    { rotary, frameKeys, textKeys }: Surroundings,
  ): Tensor => tf.tidy(() => {
    const [shift1, scale1, gate1, shift2, scale2, gate2] = modulations(time)
    const heard = modulate(x, scale1.mul(attentionGain), shift1)
    const y = x.add(attention.forward(heard, rotary, frameKeys).mul(gate1))
    const z = y.add(crossAttention(y, memory, textKeys))
    const thought = modulate(z, scale2.mul(feedForwardGain), shift2)
    return z.add(feedForward(thought).mul(gate2))
  })

  return { attention, modulations, forward }
}

/** The norm's gain is worked into the scale: one pass over the frames less. */
export const modulate = (x: Tensor, scale: Tensor, shift: Tensor): Tensor => tf.tidy(() =>
  rmsNormalize(x).mul(scale).add(shift))

/** Scales are stored as what they are more than 1; the rest is as it is: [6, dim]. */
const unitScales = (dim: number): Tensor => tf.tidy(() =>
  tf.tile(tf.tensor2d([0, 1, 0, 0, 1, 0], [6, 1]), [1, dim]))
