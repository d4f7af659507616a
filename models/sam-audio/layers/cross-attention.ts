/** Attention of frames to the text (Attention, with q_norm and k_norm, no RoPE). */
import { asWideAs, widen } from '../../tensorflow/bfloat16.ts'
import {
  attendUnscaled,
  loadProjection,
  mergeHeads,
  project,
  rmsNormalize,
  splitHeads,
} from '../../layers/layers.ts'
import { readStacked, type MatrixPart } from '../../layers/stacked-matrices.ts'
import {
  matmulTransposed,
  reshape,
  stackRows,
  tf,
  transpose,
  unstackRows,
  type Tensor,
} from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { headsSideBySide } from './self-attention.ts'

/** What one layer attends to: keys and values, [batch, heads, length, width] each. */
export interface CrossMemory {
  keys: Tensor
  values: Tensor
}

export function loadCrossAttention(weights: Weights, dim: number, heads: number) {
  const query = readStacked([headsOf(weights.at('wq'), dim, heads)], dim)
  const out = loadProjection(weights.at('wo'), dim, dim)
  /** Maps x [batch, frames, dim] to the same shape; textKeys masks the memory, or is null. */
  return (x: Tensor, { keys, values }: CrossMemory, textKeys: Tensor | null): Tensor =>
    tf.tidy(() => {
      const queries = splitHeads(project(x, query), heads) // [batch, heads, frames, width]
      const q = asWideAs(keys, rmsNormalize(widen(queries))) // its gain is in the keys
      return out(mergeHeads(attendUnscaled(q, keys, values, textKeys)))
    })
}

/**
 * Loads the keys and values of all layers at once, because they depend only on the text and the
 * time.
 * @param layers the `cross_attention` of every layer
 */
export function loadCrossMemories(layers: readonly Weights[], dim: number, heads: number) {
  const width = dim / heads
  const kernels = layers.map((weights) => {
    const parts = ['wk', 'wv'].map((name) => headsOf(weights.at(name), dim, heads))
    return readStacked(parts, dim) // [2 · dim, dim]
  })
  /** The gains of queries and keys, and the scale of the scores. */
  const gainOf = (weights: Weights) =>
    ['q_norm', 'k_norm'].reduce<Tensor>(
      (gain, name) => gain.mul(weights.at(name).get('weight', [width])),
      tf.scalar(1 / Math.sqrt(width)),
    )
  const gains = tf.tidy(() => tf.stack(layers.map(gainOf)).reshape([layers.length, 1, 1, 1, width]))
  /** Turns memory [batch, length, dim] into what each layer attends to. */
  return (memory: Tensor): CrossMemory[] =>
    tf.tidy(() => {
      const [batch, length] = memory.shape as [number, number, number]
      const input = asWideAs(kernels[0]!, memory)
      const products = stackRows(kernels.map((kernel) => matmulTransposed(input, kernel)))
      const all = reshape(products, [layers.length, batch, length, 2, heads, width])
      // [2, layers, batch, heads, length, width]
      const [k, v] = unstackRows(transpose(all, [3, 0, 1, 4, 2, 5])) as [Tensor, Tensor]
      const keys = unstackRows(asWideAs(kernels[0]!, rmsNormalize(widen(k)).mul(gains)))
      const values = unstackRows(v) // of [batch, heads, length, width]
      return layers.map((_, i) => ({ keys: keys[i]!, values: values[i]! }))
    })
}

/** Returns a projection with its heads side by side: [dim, dim]. */
const headsOf = (weights: Weights, dim: number, heads: number): MatrixPart => ({
  weights,
  outDim: dim,
  rowAt: headsSideBySide(dim, heads),
})
