/**
 * Scales and shifts of a layer's channels, projected from the text code (Modulation, as in adaLN).
 */
import { linear } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/** The channels are multiplied by the scale; then the shift is added. */
export type ScaleAndShift = [scale: Tensor, shift: Tensor]

/**
 * Maps code [batch, codeDim] to a scale and a shift for each of `gains`, shaped to broadcast over a
 * stream of `rank`. The scale is (1 + projection) · gain; the addition and the product are folded
 * into the weights.
 * @param gains [dim] each, of what is modulated
 */
export function loadModulation(
  weights: Weights,
  codeDim: number,
  { gains, rank }: { gains: readonly Tensor[]; rank: number },
) {
  const dim = gains[0]!.size
  const count = 2 * gains.length
  const project = projectionOf(weights.at('projection'), codeDim, gains)
  const middle = Array<number>(rank - 2).fill(1)
  return (code: Tensor): ScaleAndShift[] =>
    tf.tidy(() => {
      const vectors = tf.split(project(code), count, -1)
      const parts = vectors.map((vector) => vector.reshape([-1, ...middle, dim]))
      return gains.map((_, i): ScaleAndShift => [parts[2 * i]!, parts[2 * i + 1]!])
    })
}

/** These products stay in float32, because each has only one row per prompt. */
function projectionOf(weights: Weights, codeDim: number, gains: readonly Tensor[]) {
  const dim = gains[0]!.size
  const outDim = 2 * gains.length * dim
  const [matrix, bias] = tf.tidy(() => {
    const factors = tf.concat(gains.flatMap((gain) => [gain, tf.ones([dim])]))
    const ones = tf.concat(gains.flatMap(() => [tf.ones([dim]), tf.zeros([dim])]))
    return [
      weights.get('weight', [outDim, codeDim]).mul(factors.expandDims(1)),
      weights.get('bias', [outDim]).add(ones).mul(factors),
    ]
  }) as [Tensor, Tensor]
  return linear(matrix, bias)
}

export const modulate = (x: Tensor, [scale, shift]: ScaleAndShift): Tensor =>
  tf.tidy(() => x.mul(scale).add(shift))
