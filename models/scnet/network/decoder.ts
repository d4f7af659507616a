/** A decoder: joins what its encoder kept, and gives the bins back. */
import { glu } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { levelLengths, type ScnetConfig } from '../config.ts'
import { convolution, KERNEL, loadUpsampling } from './convolution.ts'
import { splitBands } from './encoder.ts'

/** @param level from 0, the encoders' last level */
export function loadDecoder(weights: Weights, level: number, config: ScnetConfig) {
  const widths = config.dims.toReversed()
  const dim = widths[level]!
  const isLast = level === config.dims.length - 2
  const outDim = isLast ? widths.at(-1)! * config.sources.length : widths[level + 1]!
  const join = loadJoin(weights.at(0).at('conv'), dim)
  const convs = weights.at(1).at('convtrs')
  const bands = config.bands.map((sizes, i) => loadUpsampling(convs.at(i), sizes, dim, outDim))

  const { before, after } = levelLengths(config).at(-1 - level)!

  /** x [batch, bins, frames, dim] to the bins that the encoder had before (SUlayer). */
  const upsample = (x: Tensor): Tensor =>
    tf.tidy(() =>
      tf.concat(
        splitBands(x, after).map((part, i) => bands[i]!(part, before[i]!)),
        1,
      ),
    )

  /** @param skip what the encoder kept, shaped like x */
  const forward = (x: Tensor, skip: Tensor): Tensor => tf.tidy(() => upsample(join(x, skip)))

  return { join, upsample, forward }
}

/**
 * FusionLayer: a convolution of x + skip, which the reference gives it twice, side by side; so both
 * halves of the kernel are added once, for half the work.
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
