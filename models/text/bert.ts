/** BERT-like text encoders: embeddings, then layers that normalise their outputs. */
import {
  attend,
  gelu,
  keyBias,
  loadLayerNorm,
  loadLinear,
  mergeHeads,
  splitHeads,
} from '../layers/layers.ts'
import { gatherRows, tf, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'

export interface BertSizes {
  dim: number
  hiddenDim: number
  layers: number
  heads: number
  /** Number of tokens in the vocabulary. */
  vocabulary: number
  /** Rows in the table of positions. */
  positions: number
  /** Row of the first token; the tables of RoBERTa begin with two that no token uses. */
  firstPosition: number
  /** Number of segment types; all tokens here have the first. */
  types: number
  /** Of the layer norms. */
  epsilon: number
}

/** Loads `embeddings` and `encoder`; whatever a model has beyond these is its own business. */
export function loadBertLayers(weights: Weights, sizes: BertSizes) {
  const embed = loadEmbeddings(weights.at('embeddings'), sizes)
  const layers = Array.from({ length: sizes.layers }, (_, i) =>
    loadLayer(weights.at('encoder').at('layer').at(i), sizes),
  )

  /** Maps ids [batch, length] int32 and valid [batch, length] (1 or 0) to [batch, length, dim]. */
  const encode = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => {
      const bias = keyBias(valid)
      return layers.reduce((x, layer) => layer(x, bias), embed(ids))
    })

  return { embed, layers, encode }
}

/** Maps ids [batch, length] to [batch, length, dim]. */
function loadEmbeddings(weights: Weights, sizes: BertSizes) {
  const { dim, vocabulary, positions, firstPosition, types, epsilon } = sizes
  const words = weights.at('word_embeddings').get('weight', [vocabulary, dim])
  const places = tf.tidy(() => {
    const kinds = weights.at('token_type_embeddings').get('weight', [types, dim])
    const first = tf.slice(kinds, [0, 0], [1, dim]) // a single text has the first type throughout
    return weights.at('position_embeddings').get('weight', [positions, dim]).add(first)
  })
  const norm = loadLayerNorm(weights.at('LayerNorm'), dim, epsilon)
  return (ids: Tensor): Tensor =>
    tf.tidy(() => {
      const word = gatherRows(words, ids.cast('int32')) // [batch, length, dim]
      return norm(word.add(tf.slice(places, [firstPosition, 0], [ids.shape[1]!, dim])))
    })
}

/** Maps x [batch, length, dim] to the same shape; `bias` comes from `keyBias`. */
function loadLayer(weights: Weights, { dim, hiddenDim, heads, epsilon }: BertSizes) {
  const [q, k, v] = ['query', 'key', 'value'].map((name) =>
    loadLinear(weights.at('attention').at('self').at(name), dim, dim),
  )
  const output = weights.at('attention').at('output')
  const merge = loadLinear(output.at('dense'), dim, dim)
  const norm1 = loadLayerNorm(output.at('LayerNorm'), dim, epsilon)
  const inner = loadLinear(weights.at('intermediate').at('dense'), dim, hiddenDim)
  const outer = loadLinear(weights.at('output').at('dense'), hiddenDim, dim)
  const norm2 = loadLayerNorm(weights.at('output').at('LayerNorm'), dim, epsilon)
  const toHeads = (x: Tensor) => splitHeads(x, heads) // [batch, heads, length, dim / heads]

  return (x: Tensor, bias: Tensor): Tensor =>
    tf.tidy(() => {
      const attended = attend(toHeads(q!(x)), toHeads(k!(x)), toHeads(v!(x)), bias)
      const y = norm1(x.add(merge(mergeHeads(attended))))
      return norm2(y.add(outer(gelu(inner(y)))))
    })
}
