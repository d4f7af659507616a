/** One layer of the flow network's transformer (DiTBlock). */
import { rmsNormalize } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { TransformerConfig } from '../config.ts'
import { loadCrossAttention, type CrossMemory } from './cross-attention.ts'
import { loadFeedForward } from './feed-forward.ts'
import type { Rotary } from '../../layers/rotary.ts'
import { loadSelfAttention } from './self-attention.ts'

export type TransformerBlock = ReturnType<typeof loadTransformerBlock>

/** Shifts, scales and gates of a block at one time of the flow, [batch, 1, dim] each. */
export interface Modulation {
  attention: { shift: Tensor; scale: Tensor; gate: Tensor }
  feedForward: { shift: Tensor; scale: Tensor; gate: Tensor }
}

/** Masks for the keys of a block's attentions. */
export interface Masks {
  /** For frames; null if every frame is valid. */
  frameKeys: Tensor | null
  /** For the text's tokens; null if every token is valid. */
  textKeys: Tensor | null
}

/** @throws Error naming a weight that is missing or misshapen */
export function loadTransformerBlock(weights: Weights, config: TransformerConfig) {
  const { dim, heads, feedForwardDim } = config
  const attention = loadSelfAttention(weights.at('attention'), dim, heads)
  const crossAttention = loadCrossAttention(weights.at('cross_attention'), dim, heads)
  const feedForward = loadFeedForward(weights.at('feed_forward'), {
    in: dim,
    hidden: feedForwardDim,
    out: dim,
  })

  /**
   * Maps x [batch, frames, dim] to the same shape; rotary holds the tables times the gains of
   * `attention`.
   */
  const forward = (
    x: Tensor,
    modulation: Modulation,
    rotary: Rotary,
    memory: CrossMemory,
    { frameKeys, textKeys }: Masks,
  ): Tensor =>
    tf.tidy(() => {
      const { attention: first, feedForward: second } = modulation
      const input = modulate(x, first.scale, first.shift)
      const y = x.add(attention.forward(input, rotary, frameKeys).mul(first.gate))
      const z = y.add(crossAttention(y, memory, textKeys))
      const modulated = modulate(z, second.scale, second.shift)
      return z.add(feedForward(modulated).mul(second.gate))
    })

  return { attention, forward }
}

/**
 * Loads the modulations of all blocks, which are computed together. The gains of the norms are
 * multiplied into the scales, which saves one pass over the frames for each norm.
 * @param layers the weights of every block
 */
export function loadModulations(layers: readonly Weights[], dim: number) {
  const [factors, terms] = tf.tidy(() => {
    const ones = tf.ones([dim])
    const gains = tf.stack(
      layers.map((weights) => {
        const [first, second] = ['attention_norm', 'ffn_norm'].map((name) =>
          weights.at(name).get('weight', [dim]),
        )
        return tf.stack([ones, first!, ones, ones, second!, ones]) // [6, dim]
      }),
    ) // [layers, 6, dim]
    const tables = tf.stack(layers.map((weights) => weights.get('scale_shift_table', [6, dim])))
    return [gains, tables.add(unitScales(dim)).mul(gains)] as [Tensor, Tensor]
  })
  /** Turns time [batch, 6 · dim] into the modulation of every block. */
  return (time: Tensor): Modulation[] =>
    tf.tidy(() => {
      const all = time.reshape([-1, 1, 6, dim]).mul(factors).add(terms) // [batch, layers, 6, dim]
      const vectors = tf.unstack(all.reshape([-1, 6 * layers.length, 1, dim]), 1)
      const three = (from: number) => ({
        shift: vectors[from]!,
        scale: vectors[from + 1]!,
        gate: vectors[from + 2]!,
      })
      return layers.map((_, i) => ({ attention: three(6 * i), feedForward: three(6 * i + 3) }))
    })
}

/** Modulates x [batch, frames, dim] by scale and shift [batch, 1, dim]. */
export const modulate = (x: Tensor, scale: Tensor, shift: Tensor): Tensor =>
  tf.tidy(() => rmsNormalize(x).mul(scale).add(shift))

/**
 * Returns what to add to the stored tables, [6, dim], because the checkpoint stores each scale
 * minus 1.
 */
const unitScales = (dim: number): Tensor =>
  tf.tidy(() => tf.tile(tf.tensor2d([0, 1, 0, 0, 1, 0], [6, 1]), [1, dim]))
