/** The encoder all-MiniLM-L6-v2: BERT of six layers, its mean over tokens, of length 1. */
import {
  attend,
  gelu,
  keyBias,
  loadLayerNorm,
  loadLinear,
  mergeHeads,
  splitHeads,
} from '../../layers.ts'
import { gatherRows, tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

export const EMBEDDING_DIM = 384

const DIM = EMBEDDING_DIM
const HIDDEN_DIM = 1536
const LAYERS = 6
const HEADS = 12
const VOCABULARY = 30_522
const POSITIONS = 512
const EPSILON = 1e-12

export type Bert = ReturnType<typeof loadBert>

export function loadBert(weights: Weights) {
  const embed = loadEmbeddings(weights.at('embeddings'))
  const layers = Array.from({ length: LAYERS }, (_, i) =>
    loadLayer(weights.at('encoder').at('layer').at(i)),
  )
  for (const name of ['embeddings.position_ids', 'pooler.dense.weight', 'pooler.dense.bias']) {
    weights.ignore(name)
  }
  weights.assertAllRead()

  /** ids [batch, length] int32, valid [batch, length] 1 or 0; to [batch, EMBEDDING_DIM]. */
  const forward = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => {
      const bias = keyBias(valid)
      const last = layers.reduce((x, layer) => layer(x, bias), embed(ids))
      return pool(last, valid)
    })

  return { embed, layers, forward }
}

/** ids [batch, length] to [batch, length, DIM]. */
function loadEmbeddings(weights: Weights) {
  const words = weights.at('word_embeddings').get('weight', [VOCABULARY, DIM])
  const positions = tf.tidy(() => {
    const types = weights.at('token_type_embeddings').get('weight', [2, DIM])
    const first = tf.slice(types, [0, 0], [1, DIM]) // one text alone is all of the first type
    return weights.at('position_embeddings').get('weight', [POSITIONS, DIM]).add(first)
  })
  const norm = loadLayerNorm(weights.at('LayerNorm'), DIM, EPSILON)
  return (ids: Tensor): Tensor =>
    tf.tidy(() => {
      const word = gatherRows(words, ids.cast('int32')) // [batch, length, DIM]
      return norm(word.add(tf.slice(positions, [0, 0], [ids.shape[1]!, DIM])))
    })
}

/** x [batch, length, DIM] to the same shape; bias as `keyBias` makes it. */
function loadLayer(weights: Weights) {
  const [q, k, v] = ['query', 'key', 'value'].map((name) =>
    loadLinear(weights.at('attention').at('self').at(name), DIM, DIM),
  )
  const output = weights.at('attention').at('output')
  const merge = loadLinear(output.at('dense'), DIM, DIM)
  const norm1 = loadLayerNorm(output.at('LayerNorm'), DIM, EPSILON)
  const inner = loadLinear(weights.at('intermediate').at('dense'), DIM, HIDDEN_DIM)
  const outer = loadLinear(weights.at('output').at('dense'), HIDDEN_DIM, DIM)
  const norm2 = loadLayerNorm(weights.at('output').at('LayerNorm'), DIM, EPSILON)
  const toHeads = (x: Tensor) => splitHeads(x, HEADS) // [batch, HEADS, length, DIM / HEADS]

  return (x: Tensor, bias: Tensor): Tensor =>
    tf.tidy(() => {
      const attended = attend(toHeads(q!(x)), toHeads(k!(x)), toHeads(v!(x)), bias)
      const y = norm1(x.add(merge(mergeHeads(attended))))
      return norm2(y.add(outer(gelu(inner(y)))))
    })
}

/** The mean of the tokens that count, of length 1: [batch, length, DIM] to [batch, DIM]. */
function pool(x: Tensor, valid: Tensor): Tensor {
  return tf.tidy(() => {
    const sum = x.mul(valid.expandDims(-1)).sum(1) // as good as the mean, once of length 1
    return sum.div(sum.norm('euclidean', -1, true))
  })
}
