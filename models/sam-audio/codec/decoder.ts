/**
 * Decodes latent frames to samples (DACVAE: the quantizer's projection, and Decoder without its
 * watermark).
 */
import { type Layer } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { CodecConfig } from '../config.ts'
import { loadConvolution, loadPointwise, loadUpsampling } from './convolution.ts'
import { applyMask, frameMask, type RowFrames } from './mask.ts'
import { loadResidualUnit, UNIT_DILATIONS, UNITS_REACH, type MaskedLayer } from './residual-unit.ts'
import { loadSnake } from './snake.ts'

export type Decoder = ReturnType<typeof loadDecoder>

interface DecoderBlock {
  stride: number
  snake: Layer
  up: Layer
  units: readonly MaskedLayer[]
}

/** Indices of a block's residual units; the layers between them belong to the watermark. */
const UNIT_PLACES = [4, 5, 8] as const

/** How many frames the first convolution, and how many samples the last, reads on either side. */
const REACH = 3

/**
 * @param weights of the codec: `decoder` (all but the watermark) and `quantizer.out_proj`
 * @throws Error naming a weight that is missing or misshapen
 */
export function loadDecoder(weights: Weights, config: CodecConfig) {
  const { project, first, blocks, snake, last } = loadLayers(weights, config)

  /** Turns latents [batch, longest, codebookDim] into [batch, longest · hop, narrowest]. */
  const upsample = (latents: Tensor, rows: RowFrames): Tensor => {
    const longest = latents.shape[1]!
    const mask = frameMask(rows, longest)
    let x = first(applyMask(project(latents), mask))
    let rate = 1
    let before = mask
    for (const block of blocks) {
      rate *= block.stride
      const after = frameMask(rows, longest, rate)
      const y = runBlock(block, applyMask(x, before), after)
      x.dispose() // frees it now; the tidy would keep it until its end
      x = y
      before = after
    }
    return x
  }

  /**
   * Decodes latents [batch, longest, codebookDim] to clean samples [batch, longest · hop, 1].
   * `rows` holds the number of real frames of each row; samples after them are undefined.
   */
  const forward = (latents: Tensor, rows: RowFrames): Tensor =>
    tf.tidy(() => last(snake(upsample(latents, rows))).tanh())

  return {
    project,
    first,
    blocks,
    upsample,
    snake,
    last,
    forward,
    contextFrames: contextFrames(config),
  }
}

function loadLayers(
  weights: Weights,
  { decoderDim, decoderRates, latentDim, codebookDim }: CodecConfig,
) {
  const layers = weights.at('decoder').at('model')
  const narrowest = decoderDim / 2 ** decoderRates.length
  // The last layers are inside the watermark module, even if no watermark is added.
  const end = weights.at('decoder').at('wm_model').at('encoder_block').at('pre')
  const wide = { kernel: 2 * REACH + 1, pad: [REACH, REACH] } as const
  return {
    project: loadPointwise(weights.at('quantizer').at('out_proj'), codebookDim, latentDim),
    first: loadConvolution(layers.at(0), { in: latentDim, out: decoderDim, ...wide }),
    blocks: decoderRates.map((stride, i) =>
      loadBlock(layers.at(i + 1).at('block'), decoderDim / 2 ** i, stride),
    ),
    snake: loadSnake(end.at(0), narrowest),
    last: loadConvolution(end.at(1), { in: narrowest, out: 1, ...wide }),
  }
}

function loadBlock(weights: Weights, dim: number, stride: number): DecoderBlock {
  return {
    stride,
    snake: loadSnake(weights.at(0), dim),
    up: loadUpsampling(weights.at(1), {
      in: dim,
      out: dim / 2,
      stride,
      trim: Math.ceil(stride / 2),
    }),
    units: UNIT_DILATIONS.map((dilation, i) =>
      loadResidualUnit(weights.at(UNIT_PLACES[i]!), dim / 2, dilation),
    ),
  }
}

/** Turns [batch, frames, dim] into [batch, frames · stride, dim / 2]. */
export const runBlock = (
  { snake, up, units }: DecoderBlock,
  x: Tensor,
  mask: Tensor | null,
): Tensor => tf.tidy(() => units.reduce((y, unit) => unit(y, mask), applyMask(up(snake(x)), mask)))

/** Returns how many latent frames on either side a sample depends on. */
function contextFrames({ decoderRates }: CodecConfig): number {
  let rate = 1
  let frames = REACH
  for (const stride of decoderRates) {
    frames += 1 / rate // a transposed convolution reads one frame on either side
    rate *= stride
    frames += UNITS_REACH / rate
  }
  return Math.ceil(frames + REACH / rate)
}
