/** Whether the target sounds, token by token, and how that closes the mask (Separator.ac). */
import { loadLinear, loadRmsNorm } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { MiniConfig } from '../config.ts'

export function loadActivity(weights: Weights, { frameDim }: MiniConfig) {
  const norm = loadRmsNorm(weights.at('na'), frameDim)
  const project = loadLinear(weights.at('ac'), frameDim, 1)
  const strength = weights.get('close', [1])
  const tolerance = weights.get('tolerance', [1])
  return {
    /** z [batch, tokens, frameDim] to logits [batch, tokens]. */
    activity: (z: Tensor): Tensor => tf.tidy(() => project(norm(z)).squeeze([-1])),
    /** What to take off every mask logit of a token: next to nothing where the target sounds. */
    closing: (logits: Tensor): Tensor =>
      tf.tidy(() => logits.add(tolerance).neg().softplus().mul(strength)),
  }
}
