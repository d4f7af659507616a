/**
 * The watermark that the reference adds to decoded audio: an inaudible message of a few bits in
 * every frame at the watermark's own frame rate (DACVAE's watermark, after AudioSeal). Every layer
 * is causal, so the padding of a row does not change the frames before it. Winnow does not add it.
 */
import type { Layer } from '../../../models/layers/layers.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import type { Weights } from '../../../models/checkpoint/weights.ts'
import { loadConvolution, loadUpsampling } from '../../../models/sam-audio/codec/convolution.ts'
import { loadResidualLstm } from './watermark-lstm.ts'

export type Watermark = ReturnType<typeof loadWatermark>

/** The factor on the watermark's signal before it is added to the samples. */
const STRENGTH = 0.25
const KERNEL = 7
const UNIT_KERNEL = 3

/**
 * @param weights of the codec's decoder, from whose shapes the sizes follow
 * @param blockCount blocks of the decoder; each stores one block of the watermark's encoder and one
 *   of its decoder
 * @throws Error naming a weight that is missing or misshapen
 */
export function loadWatermark(weights: Weights, blockCount: number) {
  const blocks = Array.from({ length: blockCount }, (_, i) =>
    loadBlock(
      weights
        .at('model')
        .at(i + 1)
        .at('block'),
    ),
  )
  const end = weights.at('wm_model')
  const { encoderIn, encoderLstm, encoderOut, sizes } = loadEncoderLayers(end.at('encoder_block'))
  const { decoderIn, decoderLstm, decoderOut } = loadDecoderLayers(end.at('decoder_block'), sizes)
  const messages = end.at('msg_processor').at('msg_processor')
  const [words] = messages.shapeOf('weight') as [number]
  const table = messages.get('weight', [words, sizes.codeDim])
  const bits = words / 2

  /** message [batch, bits] of 0 and 1 to its code, [batch, 1, codeDim], the same in every frame. */
  const messageCode = (message: Tensor): Tensor =>
    tf.tidy(() => {
      const places = message.cast('int32').add(tf.range(0, words, 2, 'int32')) // [batch, bits]
      return tf.gather(table, places).sum(1, true) // [batch, bits, codeDim] to [batch, 1, codeDim]
    })

  /** The watermark's signal: samples and signal [batch, samples, 1]. */
  const mark = (samples: Tensor, message: Tensor): Tensor =>
    tf.tidy(() => {
      const down = [...blocks].reverse().reduce((x, block) => block.down(x), encoderIn(samples))
      const encoded = encoderOut(tf.elu(encoderLstm(down)))
      const decoded = decoderLstm(decoderIn(encoded.add(messageCode(message))))
      return decoderOut(tf.elu(blocks.reduce((x, block) => block.up(x), decoded)))
    })

  /** Samples [batch, samples, 1] and message [batch, bits] to the marked samples. */
  const forward = (samples: Tensor, message: Tensor): Tensor =>
    tf.tidy(() => samples.add(mark(samples, message).mul(STRENGTH)))

  return {
    bits,
    blocks,
    encoderIn,
    encoderLstm,
    encoderOut,
    messageCode,
    decoderIn,
    decoderLstm,
    decoderOut,
    forward,
  }
}

interface WatermarkSizes {
  channels: number
  codeDim: number
  hiddenDim: number
}

/** The encoder's layers before and after its blocks, and the sizes that their shapes state. */
function loadEncoderLayers(weights: Weights) {
  const first = weights.at('pre').at(3)
  const last = weights.at('post').at(2)
  const [channels] = first.shapeOf('weight') as [number]
  const [codeDim, hiddenDim] = last.shapeOf('weight') as [number, number]
  const sizes: WatermarkSizes = { channels, codeDim, hiddenDim }
  return {
    encoderIn: loadCausal(first, { in: 1, out: channels, kernel: KERNEL }),
    encoderLstm: loadResidualLstm(weights.at('post').at(0), hiddenDim),
    encoderOut: loadCausal(last, { in: hiddenDim, out: codeDim, kernel: KERNEL }),
    sizes,
  }
}

/** The decoder's layers before and after its blocks. */
function loadDecoderLayers(weights: Weights, { channels, codeDim, hiddenDim }: WatermarkSizes) {
  const [first, lstm] = [weights.at('pre').at(0), weights.at('pre').at(1)]
  return {
    decoderIn: loadCausal(first, { in: codeDim, out: hiddenDim, kernel: KERNEL }),
    decoderLstm: loadResidualLstm(lstm, hiddenDim),
    decoderOut: loadCausal(weights.at('post').at(1), { in: channels, out: 1, kernel: KERNEL }),
  }
}

/** Indices of the watermark's layers within a block of the decoder, which stores them. */
const PLACES = { upsample: 3, upUnit: 6, downUnit: 7, downsample: 11 } as const

function loadBlock(weights: Weights) {
  const [wide, narrow, kernel] = weights.at(PLACES.downsample).shapeOf('weight') as [
    number,
    number,
    number,
  ]
  const stride = kernel / 2
  const downUnit = loadUnit(weights.at(PLACES.downUnit), narrow)
  const downsample = loadCausal(weights.at(PLACES.downsample), {
    in: narrow,
    out: wide,
    kernel,
    stride,
  })
  const upsample = loadUpsampling(weights.at(PLACES.upsample), {
    in: wide,
    out: narrow,
    stride,
    trim: 0,
  })
  const upUnit = loadUnit(weights.at(PLACES.upUnit), narrow)
  return {
    /** [batch, frames · stride, narrow] to [batch, frames, wide]. */
    down: (x: Tensor): Tensor => tf.tidy(() => downsample(tf.elu(downUnit(x)))),
    /** The way back: [batch, frames, wide] to [batch, frames · stride, narrow]. */
    up: (x: Tensor): Tensor => tf.tidy(() => upUnit(upsample(tf.elu(x)))),
    upsample,
  }
}

/** A residual unit: two causal convolutions, the first of half the width, rounded down. */
function loadUnit(weights: Weights, dim: number): Layer {
  const block = weights.at('block')
  const narrow = Math.floor(dim / 2)
  const first = loadCausal(block.at(1), { in: dim, out: narrow, kernel: UNIT_KERNEL })
  const second = loadCausal(block.at(3), { in: narrow, out: dim, kernel: 1 })
  return (x) => tf.tidy(() => x.add(second(tf.elu(first(tf.elu(x))))))
}

interface CausalSizes {
  in: number
  out: number
  kernel: number
  stride?: number
}

/** A causal convolution: a frame depends on itself and the frames before it. */
function loadCausal(weights: Weights, { kernel, stride = 1, ...sizes }: CausalSizes): Layer {
  return loadConvolution(weights, { ...sizes, kernel, stride, pad: [kernel - stride, 0] })
}
