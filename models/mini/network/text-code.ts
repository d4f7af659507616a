/** The text code that conditions the blocks: codes of the names that a prompt may mean (code). */
import { loadLinear, loadProjection, rmsNormalize } from '../../layers/layers.ts'
import { softmax, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'

export function loadTextCode(weights: Weights, { embeddingDim, names, codeDim }: MiniConfig) {
  const logits = loadLinear(weights.at('name_logits'), embeddingDim, names.length)
  const codes = loadProjection(weights.at('name_codes'), names.length, codeDim)
  const scale = Math.sqrt(embeddingDim) // brings a vector of length 1 to unit magnitudes
  /** embedding [batch, embeddingDim], of length 1, to a logit of each name: [batch, names]. */
  const nameLogits = (embedding: Tensor): Tensor => tf.tidy(() => logits(embedding.mul(scale)))
  /** embedding likewise to the mean code, weighted by probability: [batch, codeDim], unit RMS. */
  const textCode = (embedding: Tensor): Tensor =>
    tf.tidy(() => rmsNormalize(codes(softmax(nameLogits(embedding)))))
  return { nameLogits, textCode }
}
