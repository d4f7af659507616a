/** AudioSep's network: a residual U-Net over the magnitudes of a spectrum (ResUNet30). */
import { compiled } from '../../graph/compiled.ts'
import { loadPointwise } from '../../layers/layers.ts'
import { pad, tf, type Tensor, type Tensor4D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { AudioSepConfig } from '../config.ts'
import { leaky, loadShift, loadUpsampling, readBatchNorm } from './layers.ts'
import { loadResidualBlock, type ConditionedLayer } from './residual-block.ts'

export type Network = ReturnType<typeof loadNetwork>

/** By how much each encoder shortens frames and bins. */
const POOLS: readonly (readonly [frames: number, bins: number])[] = [
  [2, 2],
  [2, 2],
  [2, 2],
  [2, 2],
  [2, 2],
  [1, 2],
]
/** Frames are padded with silence to a multiple of this. */
const FRAMES_MULTIPLE = POOLS.reduce((product, [frames]) => product * frames, 1)

/** The logit of the gain, and the real and imaginary part of the rotation. */
const ANSWERS = 3

/**
 * @param weights of `ss_model`
 * @throws Error naming weights that are missing or misshapen
 */
export function loadNetwork(weights: Weights, config: AudioSepConfig) {
  const base = weights.at('base')
  const bins = config.window / 2 + 1
  const norm = readBatchNorm(base.at('bn0'), bins)
  const { channels } = config
  const before = loadPointwise(base.at('pre_conv'), 1, channels[0]!, 2)
  const encoders = loadEncoders(weights, config)
  const middle = loadMiddle(weights, config)
  const decoders = loadDecoders(weights, config)
  const after = loadPointwise(base.at('after_conv'), channels[0]!, ANSWERS, 2)

  /** Turns magnitudes [batch, frames, bins] into the input of the first encoder. */
  const begin = (magnitude: Tensor): Tensor =>
    tf.tidy(() => {
      const frames = magnitude.shape[1]!
      const missing = (FRAMES_MULTIPLE - (frames % FRAMES_MULTIPLE)) % FRAMES_MULTIPLE
      const normed = pad(magnitude.mul(norm.gain).add(norm.shift), { 1: [0, missing] })
      return before(tf.slice(normed, [0, 0, 0], [-1, -1, bins - 1]).expandDims(-1))
    })

  /** Returns the outputs of all encoders before pooling, starting with the first. */
  const encode = (x: Tensor, condition: Tensor): Tensor[] => {
    const skips: Tensor[] = []
    for (const [i, encoder] of encoders.entries()) {
      const input = i === 0 ? x : poolAfter(i - 1, skips.at(-1)!)
      skips.push(encoder(input, condition))
    }
    return skips
  }

  const bottom = (skips: readonly Tensor[], condition: Tensor): Tensor =>
    tf.tidy(() => middle(poolAfter(POOLS.length - 1, skips.at(-1)!), condition))

  /** Returns the outputs of all decoders, starting with the first. */
  const decode = (x: Tensor, skips: readonly Tensor[], condition: Tensor): Tensor[] => {
    const outputs: Tensor[] = []
    for (const [j, decoder] of decoders.entries()) {
      outputs.push(decoder(outputs.at(-1) ?? x, skips[skips.length - 1 - j]!, condition))
    }
    return outputs
  }

  /**
   * Turns magnitude [batch, frames, bins] and condition [batch, conditionDim] into the input of
   * `wavesOf`, [batch, at least frames, bins - 1, ANSWERS].
   */
  const forward = compiled((magnitude: Tensor, condition: Tensor): Tensor =>
    tf.tidy(() => {
      const skips = encode(begin(magnitude), condition)
      return after(decode(bottom(skips, condition), skips, condition).at(-1)!)
    }),
  )

  return { begin, encode, bottom, decode, after, forward }
}

export function poolAfter(encoder: number, x: Tensor): Tensor {
  const size = [...POOLS[encoder]!] as [number, number]
  return tf.avgPool(x as Tensor4D, size, size, 'valid')
}

function loadBlock(
  weights: Weights,
  block: string,
  part: string,
  inDim: number,
  outDim: number,
  { conditionDim }: AudioSepConfig,
): ConditionedLayer {
  const sizes = { in: inDim, out: outDim, conditionDim }
  return loadResidualBlock(
    weights.at('base').at(block).at(part),
    weights.at('film'),
    `${block}->${part}`,
    sizes,
  )
}

const loadEncoders = (weights: Weights, config: AudioSepConfig): ConditionedLayer[] =>
  config.channels.map((outDim, i) => {
    const inDim = config.channels[i - 1] ?? outDim
    return loadBlock(weights, `encoder_block${i + 1}`, 'conv_block1', inDim, outDim, config)
  })

function loadMiddle(weights: Weights, config: AudioSepConfig): ConditionedLayer {
  const width = config.channels.at(-1)!
  return loadBlock(weights, 'conv_block7a', 'conv_block1', width, width, config)
}

type Decoder = (x: Tensor, skip: Tensor, condition: Tensor) => Tensor

function loadDecoders(weights: Weights, config: AudioSepConfig): Decoder[] {
  const widths = config.channels.toReversed()
  return widths.map((outDim, j) => {
    const inDim = widths[j - 1] ?? outDim
    const name = `decoder_block${j + 1}`
    const decoder = weights.at('base').at(name)
    const film = weights.at('film')
    const norm = readBatchNorm(decoder.at('bn1'), inDim)
    const beta = loadShift(film, `${name}->beta1`, config.conditionDim, inDim)
    const upsample = loadUpsampling(decoder.at('conv1'), inDim, outDim, POOLS.at(-1 - j)!)
    const block = loadBlock(weights, name, 'conv_block2', 2 * outDim, outDim, config)
    return (x, skip, condition) =>
      tf.tidy(() => {
        const shift = beta(condition).add(norm.shift)
        const y = tf.tidy(() => upsample(leaky(x.mul(norm.gain).add(shift))))
        return block(tf.concat([y, skip], -1), condition)
      })
  })
}
