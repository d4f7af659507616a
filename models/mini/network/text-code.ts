/** What the blocks hear of the prompt: the codes of the names that it may mean (Separator.code). */
import { loadLinear, loadProjection, rmsNormalize } from '../../layers.ts'
import { softmax, tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'

export function loadTextCode(weights: Weights, { embeddingDim, names, codeDim }: MiniConfig) {
  const logits = loadLinear(weights.at(0), embeddingDim, names.length)
  const codes = loadProjection(weights.at(2), names.length, codeDim)
  const scale = Math.sqrt(embeddingDim) // brings a vector of length 1 to unit magnitudes
  /** embedding [batch, embeddingDim], of length 1, to how probably it means each name. */
  const meaning = (embedding: Tensor): Tensor =>
    tf.tidy(() => softmax(logits(embedding.mul(scale)))) // [batch, names]
  /** To the mean of the codes of all names, by that: [batch, codeDim] of unit RMS. */
  const textCode = (embedding: Tensor): Tensor =>
    tf.tidy(() => rmsNormalize(codes(meaning(embedding))))
  return { meaning, textCode }
}
