/**
 * The text code that conditions the blocks: a mixture of the codes of the names that a prompt may
 * mean.
 */
import { loadLinear, loadProjection, rmsNormalize } from '../../layers/layers.ts'
import { softmax, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'

export function loadTextCode(weights: Weights, { embeddingDim, names, codeDim }: MiniConfig) {
  const logits = loadLinear(weights.at('name_logits'), embeddingDim, names.length)
  const codes = loadProjection(weights.at('name_codes'), names.length, codeDim)
  const scale = Math.sqrt(embeddingDim) // scales a vector of length 1 to unit magnitudes
  /**
   * Maps an embedding [batch, embeddingDim] of length 1 to a logit for each name, [batch, names].
   */
  const nameLogits = (embedding: Tensor): Tensor => tf.tidy(() => logits(embedding.mul(scale)))
  /**
   * Maps an embedding to the mean code weighted by probability, [batch, codeDim], with an RMS of 1.
   */
  const textCode = (embedding: Tensor): Tensor =>
    tf.tidy(() => rmsNormalize(codes(softmax(nameLogits(embedding)))))
  return { nameLogits, textCode }
}
