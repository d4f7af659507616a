/** Attention of frames to the frames of the same row (Attention, with q_norm, k_norm and RoPE). */
import { asWideAs, widen } from '../../tensorflow/bfloat16.ts'
import {
  attendUnscaled,
  loadProjection,
  mergeHeads,
  project,
  rmsNormalize,
} from '../../layers/layers.ts'
import { asStored, readStacked, type RowOrder } from '../../layers/stacked-matrices.ts'
import {
  reshape,
  sliceRows,
  tf,
  transpose,
  unstackRows,
  type Tensor,
} from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { pairsInHalves, rotate, type Rotary } from '../../layers/rotary.ts'

export type SelfAttention = ReturnType<typeof loadSelfAttention>

/** The names of the attention weights in a family of networks, and the layout of heads. */
export interface AttentionLayout {
  q: string
  k: string
  v: string
  out: string
  /**
   * Whether channel c belongs to head c mod heads; otherwise each head's channels are side by side.
   */
  headsInterleaved: boolean
}

const OF_THE_FLOW: AttentionLayout = {
  q: 'wq',
  k: 'wk',
  v: 'wv',
  out: 'wo',
  headsInterleaved: true,
}

/**
 * In the reference, channel c of queries, keys and values belongs to head c mod heads. This
 * reorders them once, on loading, so that the channels of each head are side by side, as later
 * steps need them.
 */
export const headsSideBySide = (dim: number, heads: number): RowOrder => {
  const width = dim / heads
  return (place) => (place % width) * heads + Math.floor(place / width)
}

/**
 * @param weights of one attention, by the names in `layout`
 * @param dim width of input and output, divided evenly among the heads
 * @throws Error naming a weight that is missing or misshapen
 */
export function loadSelfAttention(
  weights: Weights,
  dim: number,
  heads: number,
  layout = OF_THE_FLOW,
) {
  const width = dim / heads
  const inHalves = pairsInHalves(width)
  const byHead: RowOrder = layout.headsInterleaved ? headsSideBySide(dim, heads) : asStored
  const byHeadInHalves: RowOrder = (place) => byHead(inHalves(place))
  const part = (name: string, rowAt: RowOrder) => ({
    weights: weights.at(name),
    outDim: dim,
    rowAt,
  })
  const parts = [
    part(layout.q, byHeadInHalves),
    part(layout.k, byHeadInHalves),
    part(layout.v, byHead),
  ]
  const kernel = readStacked(parts, dim) // [3 · dim, dim]
  const halves = Int32Array.from({ length: width }, (_, place) => inHalves(place))
  const gainOf = (name: string) =>
    tf.gather(weights.at(name).get('weight', [width]), tf.tensor1d(halves, 'int32'))
  const gains = tf.tidy(() =>
    tf
      .stack([gainOf('q_norm').mul(1 / Math.sqrt(width)), gainOf('k_norm')])
      .reshape([2, 1, 1, 1, width]),
  ) // the queries carry the scale of the attention scores
  const out = loadProjection(weights.at(layout.out), dim, dim)

  /**
   * Projects x [batch, frames, dim] to queries and keys [2, batch, heads, frames, width] and values
   * [batch, heads, frames, width]. Rotary holds the tables times `gains`, [2, 1, 1, frames, width].
   */
  const projectHeads = (x: Tensor, rotary: Rotary): { qk: Tensor; v: Tensor } => {
    const [batch, frames] = x.shape as [number, number, number]
    const all = reshape(project(x, kernel), [batch, frames, 3, heads, width])
    const parts = transpose(all, [2, 0, 3, 1, 4]) // [3, batch, heads, frames, width]
    const qk = rotate(rmsNormalize(widen(sliceRows(parts, 0, 2))), rotary)
    const [v] = unstackRows(sliceRows(parts, 2, 1)) as [Tensor]
    return { qk, v }
  }

  /**
   * Takes x and rotary like `projectHeads` and returns the shape of x; keys is their mask, or null.
   */
  const forward = (x: Tensor, rotary: Rotary, keys: Tensor | null): Tensor =>
    tf.tidy(() => {
      const { qk, v } = projectHeads(x, rotary)
      const [q, k] = unstackRows(asWideAs(v, qk)) as [Tensor, Tensor]
      return out(mergeHeads(attendUnscaled(q, k, v, keys)))
    })

  return { gains, projectHeads, forward }
}
