/** RMSNorm of RoFormer: scales to the length √dim, then multiplies by a gain. */
import type { Layer } from '../../layers/layers.ts'
import { lastAxisNorm, tf } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

const LENGTH_MIN = 1e-12

export function loadNorm(weights: Weights, dim: number): Layer {
  const gain = tf.tidy(() => weights.get('gamma', [dim]).mul(Math.sqrt(dim)))
  return (x) => tf.tidy(() => x.div(lastAxisNorm(x).maximum(LENGTH_MIN)).mul(gain))
}
