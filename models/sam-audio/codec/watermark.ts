/**
 * The mark that the reference adds to what it decodes: an inaudible message of a few bits, in every
 * frame of the mark's own clock (DACVAE's watermark, after AudioSeal). All of it looks backwards
 * only, so what pads a row changes nothing before.
 */
import type { Layer } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadConvolution, loadUpsampling } from './convolution.ts'
import { readPlainKernel } from './kernel.ts'
import { loadResidualLstm } from './lstm.ts'

export type Watermark = ReturnType<typeof loadWatermark>

/** How loud the mark is. */
const STRENGTH = 0.25
const KERNEL = 7
const UNIT_KERNEL = 3

/**
 * @param weights of the codec's decoder; its sizes are those of the weights
 * @param blockCount blocks of the decoder, each of which holds one of the mark's on the way down
 *   and one on the way up
 */
export function loadWatermark(weights: Weights, blockCount: number) {
  const end = weights.at('wm_model')
  const encoder = end.at('encoder_block')
  const decoder = end.at('decoder_block')
  const blocks = Array.from({ length: blockCount }, (_, i) =>
    loadBlock(
      weights
        .at('model')
        .at(i + 1)
        .at('block'),
    ),
  )
  const [channels] = encoder.at('pre').at(3).shapeOf('weight') as [number]
  const [codeDim, hiddenDim] = encoder.at('post').at(2).shapeOf('weight') as [number, number]
  const spread = loadCausal(encoder.at('pre').at(3), { in: 1, out: channels, kernel: KERNEL })
  const remember = loadResidualLstm(encoder.at('post').at(0), hiddenDim)
  const code = loadCausal(encoder.at('post').at(2), { in: hiddenDim, out: codeDim, kernel: KERNEL })
  const messages = end.at('msg_processor').at('msg_processor')
  const [words] = messages.shapeOf('weight') as [number]
  const table = messages.get('weight', [words, codeDim])
  const decode = loadCausal(decoder.at('pre').at(0), {
    in: codeDim,
    out: hiddenDim,
    kernel: KERNEL,
  })
  const recall = loadResidualLstm(decoder.at('pre').at(1), hiddenDim)
  const gather = loadCausal(decoder.at('post').at(1), { in: channels, out: 1, kernel: KERNEL })
  const bits = words / 2

  /** message [batch, bits] of 0 and 1, to what is added to every frame, [batch, 1, codeDim]. */
  const messageCode = (message: Tensor): Tensor =>
    tf.tidy(() => {
      const places = message.cast('int32').add(tf.range(0, words, 2, 'int32')) // [batch, bits]
      return tf.gather(table, places).sum(1, true) // [batch, bits, codeDim] to [batch, 1, codeDim]
    })

  /** The mark itself: samples and mark [batch, samples, 1]. */
  const mark = (samples: Tensor, message: Tensor): Tensor =>
    tf.tidy(() => {
      const down = [...blocks].reverse().reduce((x, block) => block.down(x), spread(samples))
      const heard = code(tf.elu(remember(down)))
      const said = recall(decode(heard.add(messageCode(message))))
      return gather(tf.elu(blocks.reduce((x, block) => block.up(x), said)))
    })

  /** Samples [batch, samples, 1] with the mark of message [batch, bits] in them. */
  const forward = (samples: Tensor, message: Tensor): Tensor =>
    tf.tidy(() => samples.add(mark(samples, message).mul(STRENGTH)))

  return { bits, spread, blocks, remember, code, messageCode, decode, recall, gather, forward }
}

/** Declares that the mark's weights are not used. @param weights of the codec's decoder */
export function ignoreWatermark(weights: Weights, blockCount: number): void {
  for (let i = 1; i <= blockCount; i += 1) {
    for (const place of Object.values(PLACES)) {
      weights.at('model').at(i).at('block').at(place).ignoreAll()
    }
  }
  const end = weights.at('wm_model')
  end.at('encoder_block').at('pre').at(3).ignoreAll() // before it are the decoder's last layers
  end.at('encoder_block').at('post').ignoreAll()
  end.at('msg_processor').ignoreAll()
  end.at('decoder_block').ignoreAll()
}

/** Where the mark's layers lie within a block of the decoder, which stores them. */
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
  const upsample = loadUpsampling(weights.at(PLACES.upsample), readPlainKernel, {
    in: wide,
    out: narrow,
    stride,
    trim: 0,
  })
  const upUnit = loadUnit(weights.at(PLACES.upUnit), narrow)
  return {
    /** [batch, frames · stride, narrow] to [batch, frames, wide]. */
    down: (x: Tensor): Tensor => tf.tidy(() => downsample(tf.elu(downUnit(x)))),
    /** And back: what `upsample` gives of the one, after the unit. */
    up: (x: Tensor): Tensor => tf.tidy(() => upUnit(upsample(tf.elu(x)))),
    upsample,
  }
}

/** Two causal convolutions, the first of half the width, rounded down, added to what came in. */
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

/** A convolution that hears only what was. */
function loadCausal(weights: Weights, { kernel, stride = 1, ...sizes }: CausalSizes): Layer {
  return loadConvolution(weights, readPlainKernel, {
    ...sizes,
    kernel,
    stride,
    pad: [kernel - stride, 0],
  })
}
