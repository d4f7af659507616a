/** What the blocks hear of the prompt: its embedding as a code of unit RMS (Separator.te). */
import { loadLinear, rmsNormalize, silu } from '../layers.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'
import type { MiniConfig } from './config.ts'

/** embedding [batch, embeddingDim], of length 1, to [batch, codeDim]. */
export function loadTextCode(weights: Weights, { embeddingDim, codeDim }: MiniConfig) {
  const inner = loadLinear(weights.at(0), embeddingDim, 2 * codeDim)
  const outer = loadLinear(weights.at(2), 2 * codeDim, codeDim)
  const scale = Math.sqrt(embeddingDim) // brings a vector of length 1 to unit magnitudes
  return (embedding: Tensor): Tensor => tf.tidy(() =>
    rmsNormalize(outer(silu(inner(embedding.mul(scale))))))
}
