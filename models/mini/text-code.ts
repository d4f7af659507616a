/** What the blocks hear of the prompt: its embedding as a code of unit RMS (Sep.te). */
import { loadLinear, rmsNormalize, silu } from '../layers.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Weights } from '../weights.ts'
import type { MiniConfig } from './config.ts'

/** About the root of the embedding's size: brings a vector of length 1 to unit magnitudes. */
const EMBEDDING_SCALE = 19.6

/** embedding [batch, embeddingDim], of length 1, to [batch, codeDim]. */
export function loadTextCode(weights: Weights, { embeddingDim, codeDim }: MiniConfig) {
  const inner = loadLinear(weights.at(0), embeddingDim, 2 * codeDim)
  const outer = loadLinear(weights.at(2), 2 * codeDim, codeDim)
  return (embedding: Tensor): Tensor => tf.tidy(() =>
    rmsNormalize(outer(silu(inner(embedding.mul(EMBEDDING_SCALE))))))
}
