/** Periodic activation with one frequency for each channel: x + sin²(a·x) / a (Snake1d). */
import type { Layer } from '../../layers/layers.ts'
import { tf } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

export function loadSnake(weights: Weights, dim: number): Layer {
  const alpha = tf.tidy(() => weights.get('alpha', [1, dim, 1]).reshape([dim]))
  const inverse = tf.tidy(() => tf.scalar(1).div(alpha.add(1e-9)))
  return (x) => tf.tidy(() => x.add(x.mul(alpha).sin().square().mul(inverse)))
}
