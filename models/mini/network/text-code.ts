/** The text code that conditions the blocks: codes of the names that a prompt may mean (code). */
import { loadLinear, loadProjection, rmsNormalize } from '../../layers.ts'
import { softmax, tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'

export function loadTextCode(weights: Weights, { embeddingDim, names, codeDim }: MiniConfig) {
  const logits = loadLinear(weights.at('name_logits'), embeddingDim, names.length)
  const codes = loadProjection(weights.at('name_codes'), names.length, codeDim)
  const scale = Math.sqrt(embeddingDim) // brings a vector of length 1 to unit magnitudes
  /** embedding [batch, embeddingDim], of length 1, to the probability of each name. */
  const meaning = (embedding: Tensor): Tensor =>
    tf.tidy(() => softmax(logits(embedding.mul(scale)))) // [batch, names]
  /** embedding likewise to the mean code, weighted by probability: [batch, codeDim], unit RMS. */
  const textCode = (embedding: Tensor): Tensor =>
    tf.tidy(() => rmsNormalize(codes(meaning(embedding))))
  return { meaning, textCode }
}
