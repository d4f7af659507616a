/** Transformers with rotary positions and gates, along time or along bands. */
import { widen } from '../../tensorflow/bfloat16.ts'
import {
  attend,
  gelu,
  loadLinear,
  loadProjection,
  mergeHeads,
  project,
} from '../../layers/layers.ts'
import type { Layer } from '../../layers/layers.ts'
import { pairsInHalves, rotaryTables, rotate } from '../../layers/rotary.ts'
import { readStacked, type RowOrder } from '../../layers/stacked-matrices.ts'
import {
  reshape,
  sliceRows,
  tf,
  transpose,
  unstackRows,
  type Tensor,
} from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadNorm } from './norm.ts'

export interface TransformerSizes {
  dim: number
  heads: number
  headDim: number
  layers: number
  /** How many tokens a row has at most. */
  tokensMax: number
  endsWithNorm: boolean
}

/** Loads a transformer whose `forward` keeps the shape of x [rows, tokens, dim]. */
export function loadTransformer(weights: Weights, sizes: TransformerSizes) {
  const layers = Array.from({ length: sizes.layers }, (_, i) => {
    const layer = weights.at('layers').at(i)
    return {
      attention: loadAttention(layer.at(0), sizes),
      feedForward: loadFeedForward(layer.at(1).at('net'), sizes.dim),
    }
  })
  const norm: Layer = sizes.endsWithNorm
    ? loadNorm(weights.at('norm'), sizes.dim)
    : (x) => x.clone()
  const forward: Layer = (x) =>
    tf.tidy(() => {
      let y = x
      for (const { attention, feedForward } of layers) {
        const attended = y.add(attention.forward(y))
        y = attended.add(feedForward(attended))
      }
      return norm(y)
    })
  return { layers, forward }
}

function loadAttention(weights: Weights, sizes: TransformerSizes) {
  const { dim, heads, headDim, tokensMax } = sizes
  const inner = heads * headDim
  const norm = loadNorm(weights.at('norm'), dim)
  const inHalves = pairsInHalves(headDim)
  const rowAt: RowOrder = (place) => (place < 2 * inner ? inHalves(place) : place) // not of values
  const matrix = readStacked([{ weights: weights.at('to_qkv'), outDim: 3 * inner, rowAt }], dim)
  const frequencies = weights.at('rotary_embed').values('freqs', [headDim / 2])
  const positions = rotaryTables(Array.from(frequencies), tokensMax)
  const gates = loadLinear(weights.at('to_gates'), dim, heads)
  const out = loadProjection(weights.at('to_out').at(0), inner, dim)

  const forward: Layer = (x) =>
    tf.tidy(() => {
      const h = norm(x)
      const [rows, tokens] = x.shape as [number, number, number]
      const product = project(reshape(h, [rows * tokens, dim]), matrix)
      const all = reshape(product, [rows, tokens, 3, heads, headDim])
      const parts = transpose(all, [2, 0, 3, 1, 4]) // [3, rows, heads, tokens, headDim]
      const turned = rotate(widen(sliceRows(parts, 0, 2)), positions(tokens))
      const [q, k] = unstackRows(turned) as [Tensor, Tensor]
      const v = widen(sliceRows(parts, 2, 1)).squeeze([0])
      const attended = attend(q, k, v, null)
      const gate = tf.transpose(gates(h).sigmoid(), [0, 2, 1]).expandDims(-1)
      return out(mergeHeads(attended.mul(gate)))
    })
  return { norm, forward }
}

function loadFeedForward(weights: Weights, dim: number): Layer {
  const norm = loadNorm(weights.at(0), dim)
  const [hidden = 0] = weights.at(1).shapeOf('weight')
  const inner = loadLinear(weights.at(1), dim, hidden)
  const outer = loadLinear(weights.at(4), hidden, dim)
  return (x) => tf.tidy(() => outer(gelu(inner(norm(x)))))
}
