/** Encodes samples to latent frames (DACVAE: Encoder, and the quantizer's projection). */
import { type Layer } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { hopOf, type CodecConfig } from '../config.ts'
import { loadConvolution, loadPointwise } from './convolution.ts'
import { applyMask, frameMask, type RowFrames } from './mask.ts'
import {
  loadResidualUnit,
  UNIT_DILATIONS,
  UNITS_REACH,
  type MaskedLayer,
  type LayerPaths,
} from './residual-unit.ts'
import { loadSnake } from './snake.ts'

export type Encoder = ReturnType<typeof loadEncoder>

interface EncoderBlock {
  stride: number
  units: readonly MaskedLayer[]
  snake: Layer
  down: Layer
}

/** Paths of the encoder's layers among the codec's weights. */
interface EncoderPaths {
  first: string
  /** Path of block `i`, counted from 0; the other paths are relative to it. */
  block(i: number): string
  unit(i: number): string
  unitPaths?: LayerPaths
  snake: string
  down: string
  /** Paths of the layers that follow this many blocks. */
  lastSnake(blocks: number): string
  last(blocks: number): string
  project: string
}

const DACVAE: EncoderPaths = {
  first: 'encoder.block.0',
  block: (i) => `encoder.block.${i + 1}.block`,
  unit: String,
  snake: '3',
  down: '4',
  lastSnake: (blocks) => `encoder.block.${blocks + 1}`,
  last: (blocks) => `encoder.block.${blocks + 2}`,
  project: 'quantizer.in_proj',
}

/** Paths in transformers' DacModel, with the bottleneck of perception_models. */
export const TRANSFORMERS: EncoderPaths = {
  first: 'encoder.conv1',
  block: (i) => `encoder.block.${i}`,
  unit: (i) => `res_unit${i + 1}`,
  unitPaths: ['snake1', 'conv1', 'snake2', 'conv2'],
  snake: 'snake1',
  down: 'conv1',
  lastSnake: () => 'encoder.snake1',
  last: () => 'encoder.conv2',
  project: 'bottleneck.in_proj',
}

/** @param weights of the codec; only those of the encoder are read, at `paths` */
export function loadEncoder(weights: Weights, config: CodecConfig, paths = DACVAE) {
  const { encoderDim, encoderRates, latentDim, codebookDim } = config
  const first = loadConvolution(weights.at(paths.first), {
    in: 1,
    out: encoderDim,
    kernel: 7,
    pad: [3, 3],
  })
  const blocks = encoderRates.map((stride, i) =>
    loadBlock(weights.at(paths.block(i)), encoderDim * 2 ** i, stride, paths),
  )
  const widest = encoderDim * 2 ** encoderRates.length
  const snake = loadSnake(weights.at(paths.lastSnake(encoderRates.length)), widest)
  const last = loadConvolution(weights.at(paths.last(encoderRates.length)), {
    in: widest,
    out: latentDim,
    kernel: 3,
    pad: [1, 1],
  })
  // The other half would be the spread of the latent, which is not used.
  const project = loadPointwise(weights.at(paths.project), latentDim, 2 * codebookDim)

  /**
   * Turns samples [batch, frames · hop, 1] into the output of the last block, [batch, frames,
   * widest].
   */
  const downsample = (samples: Tensor, rows: RowFrames, longest: number): Tensor => {
    let rate = hopOf(config)
    let mask = frameMask(rows, longest, rate)
    let x = applyMask(first(applyMask(samples, mask)), mask)
    for (const block of blocks) {
      rate /= block.stride
      const next = frameMask(rows, longest, rate)
      const y = runBlock(block, x, mask, next)
      x.dispose() // frees it now; the tidy would keep it until its end
      x = y
      mask = next
    }
    return x
  }

  /**
   * Encodes samples [batch, longest · hop, 1] to features [batch, longest, codebookDim], the means
   * of the latent frames. `rows` holds the number of real frames of each row; values after them are
   * meaningless.
   */
  const forward = (samples: Tensor, rows: RowFrames, longest: number): Tensor =>
    tf.tidy(() => {
      const x = snake(downsample(samples, rows, longest))
      return tf.slice(project(last(x)), [0, 0, 0], [-1, -1, codebookDim])
    })

  return { first, blocks, snake, last, project, forward, contextFrames: contextFrames(config) }
}

function loadBlock(
  weights: Weights,
  dim: number,
  stride: number,
  paths: EncoderPaths,
): EncoderBlock {
  const half = Math.ceil(stride / 2)
  return {
    stride,
    units: UNIT_DILATIONS.map((dilation, i) =>
      loadResidualUnit(weights.at(paths.unit(i)), dim, dilation, paths.unitPaths),
    ),
    snake: loadSnake(weights.at(paths.snake), dim),
    down: loadConvolution(weights.at(paths.down), {
      in: dim,
      out: 2 * dim,
      kernel: 2 * stride,
      stride,
      pad: [half, half],
    }),
  }
}

/** Turns [batch, frames, dim] into [batch, frames / stride, 2 · dim]. */
export const runBlock = (
  { units, snake, down }: EncoderBlock,
  x: Tensor,
  mask: Tensor | null,
  next: Tensor | null,
): Tensor =>
  tf.tidy(() => {
    const residual = units.reduce((y, unit) => unit(y, mask), x)
    return applyMask(down(snake(residual)), next)
  })

/** Returns how many latent frames on either side a frame depends on. */
function contextFrames({ encoderRates }: CodecConfig): number {
  let rate = 1
  let samples = 3
  for (const stride of encoderRates) {
    samples += (UNITS_REACH + stride) * rate
    rate *= stride
  }
  return Math.ceil(samples / rate) + 1
}
