/** Predicts in which tokens the target is active, and closes the mask in the others (Separator). */
import { loadLinear, loadRmsNorm } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'

/**
 * @throws Error naming a weight that is missing or has the wrong shape, as all loaders of the
 *   network do
 */
export function loadActivity(weights: Weights, { frameDim }: MiniConfig) {
  const norm = loadRmsNorm(weights.at('activity_norm'), frameDim)
  const project = loadLinear(weights.at('activity_projection'), frameDim, 1)
  const strength = weights.get('closing_strength', [1])
  const tolerance = weights.get('closing_tolerance', [1])
  return {
    /** Maps z [batch, tokens, frameDim] to logits [batch, tokens]. */
    activity: (z: Tensor): Tensor => tf.tidy(() => project(norm(z)).squeeze([-1])),
    /** Maps logits [batch, tokens] to what is subtracted from the mask logits of each token. */
    closing: (logits: Tensor): Tensor =>
      tf.tidy(() => logits.add(tolerance).neg().softplus().mul(strength)),
  }
}
