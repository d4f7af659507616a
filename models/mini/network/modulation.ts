/** Scales and shifts of a layer's channels, projected from the text code (Modulation; adaLN). */
import { loadLinear } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'

/** code [batch, codeDim] to `count` vectors, shaped to broadcast over a stream of `rank`. */
export function loadModulation(
  weights: Weights,
  codeDim: number,
  { dim, count, rank }: Record<'dim' | 'count' | 'rank', number>,
) {
  const project = loadLinear(weights.at('projection'), codeDim, count * dim)
  const middle = Array<number>(rank - 2).fill(1)
  return (code: Tensor): Tensor[] =>
    tf.tidy(() =>
      tf.split(project(code), count, -1).map((vector) => vector.reshape([-1, ...middle, dim])),
    )
}

export const modulate = (x: Tensor, scale: Tensor, shift: Tensor): Tensor =>
  tf.tidy(() => x.mul(scale.add(1)).add(shift))
