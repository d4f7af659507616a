/**
 * Snake, dilated convolution, snake and pointwise convolution, added to the input (ResidualUnit).
 */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadConvolution, loadPointwise } from './convolution.ts'
import { applyMask } from './mask.ts'
import { loadSnake } from './snake.ts'

/** Keeps padding at zero; mask is [batch, frames, 1], or null. */
export type MaskedLayer = (x: Tensor, mask: Tensor | null) => Tensor

export const UNIT_DILATIONS = [1, 3, 9] as const

const KERNEL = 7

/** How many frames a chain of units reads on either side. */
export const UNITS_REACH = UNIT_DILATIONS.reduce((sum, dilation) => sum + reachOf(dilation), 0)

/** Paths of a unit's layers: snake, convolution, snake, pointwise. */
export type LayerPaths = readonly [string, string, string, string]

const LAYER_PATHS: LayerPaths = ['block.0', 'block.1', 'block.2', 'block.3']

export function loadResidualUnit(
  weights: Weights,
  dim: number,
  dilation: number,
  paths = LAYER_PATHS,
): MaskedLayer {
  const [snake1Path, conv1Path, snake2Path, conv2Path] = paths
  const snake1 = loadSnake(weights.at(snake1Path), dim)
  const reach = reachOf(dilation)
  const dilated = loadConvolution(weights.at(conv1Path), {
    in: dim,
    out: dim,
    kernel: KERNEL,
    dilation,
    pad: [reach, reach],
  })
  const snake2 = loadSnake(weights.at(snake2Path), dim)
  const pointwise = loadPointwise(weights.at(conv2Path), dim, dim)
  return (x, mask) => tf.tidy(() => applyMask(x.add(pointwise(snake2(dilated(snake1(x))))), mask))
}

function reachOf(dilation: number): number {
  return (dilation * (KERNEL - 1)) / 2
}
