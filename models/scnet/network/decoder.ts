/** A decoder: joins its input with the encoder's skip, and restores the bins. */
import { glu } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { levelLengths, type ScnetConfig } from '../config.ts'
import { convolution, KERNEL, loadUpsampling } from './convolution.ts'
import { splitBands } from './encoder.ts'

/** @param level from 0, which is the last level of the encoders */
export function loadDecoder(weights: Weights, level: number, config: ScnetConfig) {
  const widths = config.dims.toReversed()
  const dim = widths[level]!
  const isLast = level === config.dims.length - 2
  const outDim = isLast ? widths.at(-1)! * config.sources.length : widths[level + 1]!
  const join = loadJoin(weights.at(0).at('conv'), dim)
  const convs = weights.at(1).at('convtrs')
  const bands = config.bands.map((sizes, i) => loadUpsampling(convs.at(i), sizes, dim, outDim))

  const { before, after } = levelLengths(config).at(-1 - level)!

  /**
   * Restores the bins of x [batch, bins, frames, dim] that the encoder had as its input (SUlayer).
   */
  const upsample = (x: Tensor): Tensor =>
    tf.tidy(() =>
      tf.concat(
        splitBands(x, after).map((part, i) => bands[i]!(part, before[i]!)),
        1,
      ),
    )

  /** @param skip the encoder's output of the same shape as x */
  const forward = (x: Tensor, skip: Tensor): Tensor => tf.tidy(() => upsample(join(x, skip)))

  return { join, upsample, forward }
}

/**
 * FusionLayer: a convolution of x + skip. The reference passes the sum twice, side by side, so
 * adding up both halves of the kernel once halves the work.
 */
function loadJoin(weights: Weights, dim: number) {
  const kernel = tf.tidy(() => {
    const shape = [2 * dim, 2 * dim, KERNEL, KERNEL]
    const [first, second] = tf.split(weights.get('weight', shape), 2, 1) as [Tensor, Tensor]
    return first.add(second)
  })
  const convolve = convolution(kernel, weights.get('bias', [2 * dim]))
  return (x: Tensor, skip: Tensor): Tensor => tf.tidy(() => glu(convolve(x.add(skip))))
}
