/**
 * The text encoder all-MiniLM-L6-v2: a BERT of six layers, averaged over tokens and normalised to
 * length 1.
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadBertLayers } from '../../text/bert.ts'

const EMBEDDING_DIM = 384

const SIZES = {
  dim: EMBEDDING_DIM,
  hiddenDim: 1536,
  layers: 6,
  heads: 12,
  vocabulary: 30_522,
  positions: 512,
  firstPosition: 0,
  types: 2,
  epsilon: 1e-12,
}

export type Bert = ReturnType<typeof loadBert>

export function loadBert(weights: Weights) {
  const { embed, layers, encode } = loadBertLayers(weights, SIZES)
  for (const name of ['embeddings.position_ids', 'pooler.dense.weight', 'pooler.dense.bias']) {
    weights.ignore(name)
  }
  weights.assertAllRead()

  /**
   * Maps ids [batch, length] int32 and valid [batch, length] (1 or 0) to [batch, EMBEDDING_DIM].
   */
  const forward = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => pool(encode(ids, valid), valid))

  return { embed, layers, forward }
}

/** Averages the valid tokens and normalises to length 1: [batch, length, dim] to [batch, dim]. */
function pool(x: Tensor, valid: Tensor): Tensor {
  return tf.tidy(() => {
    const sum = x.mul(valid.expandDims(-1)).sum(1) // the sum has the same direction as the mean
    return sum.div(sum.norm('euclidean', -1, true))
  })
}
