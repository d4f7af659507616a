/** Normalisation over several axes at once, as in HTDemucs and SCNet. */
import type { Weights } from '../checkpoint/weights.ts'
import type { Layer } from './layers.ts'
import { lastAxisNorm, tf, type Tensor } from '../tensorflow/tensor.ts'

/** Added to the variance in every norm. */
export const EPSILON = 1e-5

/** torch.nn.GroupNorm with one group, over `axes` of x, the last of which is the channels. */
export function loadGroupNorm(weights: Weights, dim: number, axes: readonly number[]): Layer {
  const gain = weights.get('weight', [dim])
  const bias = weights.get('bias', [dim])
  return (x) =>
    tf.tidy(() => {
      const centred = x.sub(meanOver(x, axes))
      const meanSquare = lastAxisNorm(centred).square().div(dim) // of the channels, read once
      const variance = meanOver(meanSquare, axes.slice(0, -1))
      return centred.mul(variance.add(EPSILON).rsqrt().mul(gain)).add(bias)
    })
}

/**
 * The mean over several axes, taken one axis at a time from the last, which is faster than all at
 * once.
 */
const meanOver = (x: Tensor, axes: readonly number[]): Tensor =>
  axes.toReversed().reduce((mean, axis) => mean.mean(axis, true), x)

/** Mean and deviation of each item of a batch, [batch, 1, ..]. */
export interface Moments {
  mean: Tensor
  /** Standard deviation, unbiased. */
  deviation: Tensor
}

export function momentsOf(x: Tensor): Moments {
  return tf.tidy(() => {
    const axes = x.shape.map((_, axis) => axis).slice(1)
    const count = axes.reduce((product, axis) => product * x.shape[axis]!, 1)
    const mean = x.mean(axes, true)
    const deviation = x
      .sub(mean)
      .square()
      .sum(axes, true)
      .div(count - 1)
      .sqrt()
    return { mean, deviation }
  })
}

/** Shifts and scales x to zero mean and unit deviation. */
export const normalize = (x: Tensor, { mean, deviation }: Moments): Tensor =>
  tf.tidy(() => x.sub(mean).div(deviation.add(EPSILON)))

/** The inverse of `normalize`, apart from its epsilon. */
export const restore = (x: Tensor, { mean, deviation }: Moments): Tensor =>
  tf.tidy(() => x.mul(deviation).add(mean))
