/** Transformers with rotary positions and gates: along time, and along bands. */
import { attend, gelu, loadLinear, loadProjection, mergeHeads, splitHeads } from '../../layers.ts'
import type { Layer } from '../../layers.ts'
import { pairsInHalves, rotaryTables, rotate } from '../../rotary.ts'
import { matmulTransposed, reshape, tf, upload, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadNorm } from './norm.ts'

export interface TransformerSizes {
  dim: number
  heads: number
  headDim: number
  layers: number
  /** The most tokens of a row. */
  tokensMax: number
  endsWithNorm: boolean
}

/** forward: x [rows, tokens, dim], shape as it is. */
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
  const matrices = readHeads(weights.at('to_qkv'), sizes)
  const frequencies = weights.at('rotary_embed').values('freqs', [headDim / 2])
  const positions = rotaryTables(Array.from(frequencies), tokensMax)
  const gates = loadLinear(weights.at('to_gates'), dim, heads)
  const out = loadProjection(weights.at('to_out').at(0), inner, dim)

  const forward: Layer = (x) =>
    tf.tidy(() => {
      const h = norm(x)
      const [rows, tokens] = x.shape as [number, number, number]
      const flat = reshape(h, [rows * tokens, dim])
      const [q, k, v] = matrices.map((matrix) =>
        splitHeads(reshape(matmulTransposed(flat, matrix), [rows, tokens, inner]), heads),
      ) as [Tensor, Tensor, Tensor] // [rows, heads, tokens, headDim]
      const places = positions(tokens)
      const attended = attend(rotate(q, places), rotate(k, places), v, null)
      const gate = tf.transpose(gates(h).sigmoid(), [0, 2, 1]).expandDims(-1)
      return out(mergeHeads(attended.mul(gate)))
    })
  return { norm, forward }
}

/** Queries, keys and values, [inner, dim] each; the pairs of the first two lie in halves. */
function readHeads(weights: Weights, { dim, heads, headDim }: TransformerSizes): Tensor[] {
  const inner = heads * headDim
  const stored = weights.values('weight', [3 * inner, dim])
  if (stored.length === 0) return [0, 1, 2].map(() => upload(stored, [inner, dim])) // shapes alone
  const inHalves = pairsInHalves(headDim)
  return [0, 1, 2].map((part) => {
    const numbers = new Float32Array(inner * dim)
    for (let place = 0; place < inner; place += 1) {
      const row = part * inner + (part < 2 ? inHalves(place) : place)
      numbers.set(stored.subarray(row * dim, (row + 1) * dim), place * dim)
    }
    return upload(numbers, [inner, dim])
  })
}

function loadFeedForward(weights: Weights, dim: number): Layer {
  const norm = loadNorm(weights.at(0), dim)
  const [hidden = 0] = weights.at(1).shapeOf('weight')
  const inner = loadLinear(weights.at(1), dim, hidden)
  const outer = loadLinear(weights.at(4), hidden, dim)
  return (x) => tf.tidy(() => outer(gelu(inner(norm(x)))))
}
