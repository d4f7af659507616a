/** Weights of convolutions as the codec stores them (torch.nn.utils.weight_norm). */
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../weights.ts'

/** Where a weight-normed kernel's length and direction are kept: before and since PyTorch 2.0. */
const SPELLINGS = [
  { length: 'weight_g', direction: 'weight_v' },
  { length: 'parametrizations.weight.original0', direction: 'parametrizations.weight.original1' },
] as const

/** A kernel shaped as PyTorch shapes it, its norm folded in. @throws Error when it is absent */
export function readNormedKernel(weights: Weights, shape: readonly number[]): Tensor {
  const { length, direction } =
    SPELLINGS.find((spelling) => weights.has(spelling.direction)) ?? SPELLINGS[0]
  return tf.tidy(() => {
    const g = weights.get(length, [shape[0]!, ...shape.slice(1).map(() => 1)])
    const v = weights.get(direction, shape)
    const axes = shape.slice(1).map((_, i) => i + 1)
    return v.mul(g.div(v.square().sum(axes, true).sqrt()))
  })
}

/** A kernel that is stored as it is. */
export const readPlainKernel = (weights: Weights, shape: readonly number[]): Tensor =>
  weights.get('weight', shape)

export type ReadKernel = typeof readPlainKernel
