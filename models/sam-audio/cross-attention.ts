/** Attention of frames to what the text says (Attention, with q_norm and k_norm, no RoPE). */
import { attendUnscaled, loadProjection, mergeHeads, rmsNormalize, splitHeads } from '../layers.ts'
import { multiply, tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'
import { headsSideBySide } from './head-layout.ts'

/** What one layer attends to: [batch, heads, length, width] each. */
export interface CrossMemory {
  keys: Tensor
  values: Tensor
}

export type CrossAttention = ReturnType<typeof loadCrossAttention>

export function loadCrossAttention(weights: Weights, dim: number, heads: number) {
  const query = readHeads(weights.at('wq'), dim, heads)
  const out = loadProjection(weights.at('wo'), dim, dim)
  /** x [batch, frames, dim] to the same; textKeys: what masks the memory, or null. */
  return (x: Tensor, { keys, values }: CrossMemory, textKeys: Tensor | null): Tensor =>
    tf.tidy(() => {
      const q = rmsNormalize(splitHeads(multiply(x, query), heads)) // its gain is in the keys
      return out(mergeHeads(attendUnscaled(q, keys, values, textKeys)))
    })
}

/**
 * Keys and values of every layer in one product: they depend on the text and the time only.
 * @param layers the `cross_attention` of every layer
 */
export function loadCrossMemories(layers: readonly Weights[], dim: number, heads: number) {
  const width = dim / heads
  const kernel = tf.tidy(() => tf.concat(layers.flatMap((weights) =>
    ['wk', 'wv'].map((name) => readHeads(weights.at(name), dim, heads))), 1))
  const gainOf = (weights: Weights) => // of queries and keys, and the scale of the scores
    ['q_norm', 'k_norm'].reduce<Tensor>((gain, name) =>
      gain.mul(weights.at(name).get('weight', [width])), tf.scalar(1 / Math.sqrt(width)))
  const gains = tf.tidy(() =>
    tf.stack(layers.map(gainOf)).reshape([layers.length, 1, 1, 1, width]))
  /** memory [batch, length, dim] to what each layer attends to. */
  return (memory: Tensor): CrossMemory[] => tf.tidy(() => {
    const [batch, length] = memory.shape as [number, number, number]
    const all = multiply(memory, kernel)
      .reshape([batch * length, layers.length, 2, heads * width])
    const [k, v] = tf.unstack(all, 2).map((part) => tf.transpose( // [rows, layers, dim]
      part.reshape([batch, length, layers.length, heads, width]), [2, 0, 3, 1, 4]))
    const keys = tf.unstack(rmsNormalize(k!).mul(gains)) // of [batch, heads, length, width]
    const values = tf.unstack(v!)
    return keys.map((each, i) => ({ keys: each, values: values[i]! }))
  })
}

/** A projection to heads side by side: [dim, dim]. */
const readHeads = (weights: Weights, dim: number, heads: number): Tensor => tf.tidy(() =>
  tf.transpose(headsSideBySide(weights.get('weight', [dim, dim]), heads)))
