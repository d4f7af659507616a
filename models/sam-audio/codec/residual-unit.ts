/** Snake, dilated convolution, snake, pointwise, added to what came in (ResidualUnit). */
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../weights.ts'
import { loadConvolution, loadPointwise } from './convolution.ts'
import { readNormedKernel } from './kernel.ts'
import { applyMask } from './mask.ts'
import { loadSnake } from './snake.ts'

/** What is to be zero stays so: mask [batch, frames, 1], or null. */
export type MaskedLayer = (x: Tensor, mask: Tensor | null) => Tensor

export const UNIT_DILATIONS = [1, 3, 9] as const

const KERNEL = 7

/** Frames that one unit after the other hears on either side. */
export const UNITS_REACH = UNIT_DILATIONS.reduce((sum, dilation) => sum + reachOf(dilation), 0)

export function loadResidualUnit(weights: Weights, dim: number, dilation: number): MaskedLayer {
  const block = weights.at('block')
  const outerSnake = loadSnake(block.at(0), dim)
  const reach = reachOf(dilation)
  const wide = loadConvolution(block.at(1), readNormedKernel, {
    in: dim, out: dim, kernel: KERNEL, dilation, pad: [reach, reach],
  })
  const innerSnake = loadSnake(block.at(2), dim)
  const pointwise = loadPointwise(block.at(3), readNormedKernel, dim, dim)
  return (x, mask) => tf.tidy(() =>
    applyMask(x.add(pointwise(innerSnake(wide(outerSnake(x))))), mask))
}

function reachOf(dilation: number): number {
  return (dilation * (KERNEL - 1)) / 2
}
