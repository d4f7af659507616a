/** The prompt encoder of the flow network (transformers: T5EncoderModel). */
import {
  attendUnscaled,
  keyBias,
  loadProjection,
  loadRmsNorm,
  mergeHeads,
  splitHeads,
} from '../../layers/layers.ts'
import { gatherRows, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { T5Config } from './t5-config.ts'

export type T5 = ReturnType<typeof loadT5>

/** @throws Error naming weights that are missing, misshapen or unread */
export function loadT5(weights: Weights, config: T5Config) {
  const { vocabulary, dim, layers, epsilon } = config
  const encoder = weights.at('encoder')
  const table = weights.at('shared').get('weight', [vocabulary, dim])
  const positionBias = loadPositionBias(encoder.at('block').at(0).at('layer').at(0), config)
  const blocks = Array.from({ length: layers }, (_, i) =>
    loadBlock(encoder.at('block').at(i).at('layer'), config),
  )
  const norm = loadRmsNorm(encoder.at('final_layer_norm'), dim, { name: 'weight', epsilon })
  ignoreRest(weights)
  weights.assertAllRead()

  /** Embeds ids [batch, length] int32 as [batch, length, dim]. */
  const embed = (ids: Tensor): Tensor => tf.tidy(() => gatherRows(table, ids.cast('int32')))

  /**
   * Encodes ids [batch, length] int32, with valid [batch, length] 1 or 0, as states [batch, length,
   * dim].
   */
  const forward = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => {
      const bias = positionBias(ids.shape[1]!).add(keyBias(valid)) // [batch, heads, query, key]
      return norm(blocks.reduce((x, block) => block.forward(x, bias), embed(ids)))
    })

  return { embed, positionBias, blocks, norm, forward }
}

/**
 * Returns the bucket of a relative position from query to key: near ones have their own, far ones
 * share.
 */
export function positionBucket(offset: number, { buckets, distanceMax }: T5Config): number {
  const half = buckets / 2
  const exact = half / 2
  const distance = Math.abs(offset)
  const far = Math.log(distance / exact) / Math.log(distanceMax / exact)
  const bucket =
    distance < exact ? distance : Math.min(half - 1, exact + Math.trunc((half - exact) * far))
  return offset > 0 ? half + bucket : bucket
}

/** Loads the bias that every block adds to its scores by position: [1, heads, length, length]. */
function loadPositionBias(weights: Weights, config: T5Config) {
  const { buckets, heads } = config
  const name = 'relative_attention_bias.weight'
  const table = weights.at('SelfAttention').get(name, [buckets, heads])
  return (length: number): Tensor =>
    tf.tidy(() => {
      const rows = Int32Array.from({ length: length * length }, (_, i) =>
        positionBucket((i % length) - Math.floor(i / length), config),
      )
      return gatherRows(table, tf.tensor1d(rows, 'int32')) // [query · key, heads]
        .transpose()
        .reshape([1, heads, length, length])
    })
}

/** Maps x [batch, length, dim] to the same shape; bias is [batch, heads, query, key]. */
function loadBlock(weights: Weights, config: T5Config) {
  const attention = loadAttention(weights.at(0), config)
  const feedForward = loadFeedForward(weights.at(1), config)
  const forward = (x: Tensor, bias: Tensor): Tensor =>
    tf.tidy(() => feedForward(attention(x, bias)))
  return { attention, feedForward, forward }
}

function loadAttention(weights: Weights, { dim, heads, headDim, epsilon }: T5Config) {
  const norm = loadRmsNorm(weights.at('layer_norm'), dim, { name: 'weight', epsilon })
  const attention = weights.at('SelfAttention')
  const [q, k, v] = ['q', 'k', 'v'].map((name) =>
    loadProjection(attention.at(name), dim, heads * headDim),
  )
  const merge = loadProjection(attention.at('o'), heads * headDim, dim)
  return (x: Tensor, bias: Tensor): Tensor =>
    tf.tidy(() => {
      const normed = norm(x)
      const toHeads = (y: Tensor) => splitHeads(y, heads) // [batch, heads, length, headDim]
      const [queries, keys, values] = [q!, k!, v!].map((project) => toHeads(project(normed)))
      return x.add(merge(mergeHeads(attendUnscaled(queries!, keys!, values!, bias))))
    })
}

function loadFeedForward(weights: Weights, { dim, hiddenDim, epsilon }: T5Config) {
  const norm = loadRmsNorm(weights.at('layer_norm'), dim, { name: 'weight', epsilon })
  const dense = weights.at('DenseReluDense')
  const inner = loadProjection(dense.at('wi'), dim, hiddenDim)
  const outer = loadProjection(dense.at('wo'), hiddenDim, dim)
  return (x: Tensor): Tensor => tf.tidy(() => x.add(outer(inner(norm(x)).relu())))
}

/**
 * Ignores the rest: folders of the full T5 also have a decoder, and the embeddings under a second
 * name.
 */
function ignoreRest(weights: Weights): void {
  weights.at('decoder').ignoreAll()
  weights.at('lm_head').ignoreAll()
  weights.at('encoder').at('embed_tokens').ignoreAll()
}
