/** The U-Net of one stem: spleeter/model/functions/unet.py, `apply_unet`. */
import type { Layer } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { LEVELS, type SpleeterConfig } from '../config.ts'
import {
  activationOf,
  loadDownsampling,
  loadLast,
  loadNorm,
  loadUpsampling,
  numberedLayer,
} from './layers.ts'

/**
 * Number of convolutions in a stem's network, including the last, and of all its normalisations.
 */
const CONVOLUTIONS = LEVELS + 1
const NORMS = 2 * LEVELS

/**
 * @param stem index of the stem, from 0
 * @param channels of the magnitudes
 * @throws Error naming weights that are missing or misshapen
 */
export function loadUNet(weights: Weights, stem: number, channels: number, config: SpleeterConfig) {
  const { filters } = config
  const encoders = filters.map((outDim, i) => {
    const layer = numberedLayer(weights, 'conv2d', CONVOLUTIONS * stem + i)
    return loadDownsampling(layer, filters[i - 1] ?? channels, outDim)
  })
  const norm = (index: number, dim: number) =>
    loadNorm(numberedLayer(weights, 'batch_normalization', NORMS * stem + index), dim)
  const encoderNorms = filters.slice(0, -1).map((dim, i) => norm(i, dim))
  // That of the last encoder is computed by the reference and used by nothing.
  numberedLayer(weights, 'batch_normalization', NORMS * stem + LEVELS - 1).ignoreAll()
  const widths = [...filters.slice(0, -1).toReversed(), 1]
  const decoders = widths.map((outDim, j) => {
    const layer = numberedLayer(weights, 'conv2d_transpose', LEVELS * stem + j)
    return loadUpsampling(layer, j === 0 ? filters.at(-1)! : 2 * widths[j - 1]!, outDim)
  })
  const decoderNorms = widths.map((dim, j) => norm(LEVELS + j, dim))
  const last = loadLast(numberedLayer(weights, 'conv2d', CONVOLUTIONS * stem + LEVELS), channels)
  const encoderActivation = activationOf(config.encoderActivation)
  const decoderActivation = activationOf(config.decoderActivation)

  /** Applies norm and activation between an encoder and the next one. */
  const activate = (i: number, x: Tensor): Tensor =>
    tf.tidy(() => encoderActivation(encoderNorms[i]!(x)))

  /** Turns magnitudes [segments, frames, bins, channels] into the plain outputs of all encoders. */
  const encode = (magnitudes: Tensor): Tensor[] => {
    const outputs: Tensor[] = []
    for (const [i, encoder] of encoders.entries()) {
      outputs.push(encoder(i === 0 ? magnitudes : activate(i - 1, outputs[i - 1]!)))
    }
    return outputs
  }

  /** Returns the outputs of all decoders, activated but not normalised. */
  const decode = (encoded: readonly Tensor[]): Tensor[] => {
    const outputs: Tensor[] = []
    for (const [j, decoder] of decoders.entries()) {
      outputs.push(tf.tidy(() => decoderActivation(decoder(inputOf(j, encoded, outputs)))))
    }
    return outputs
  }

  /**
   * Returns a decoder's input: for the first, the last encoder's output; for others, a skip as
   * well.
   */
  const inputOf = (j: number, encoded: readonly Tensor[], decoded: readonly Tensor[]): Tensor =>
    j === 0
      ? encoded.at(-1)!
      : tf.concat([encoded[LEVELS - 1 - j]!, decoderNorms[j - 1]!(decoded[j - 1]!)], -1)

  /** Returns the answer, shaped like the magnitudes, before it becomes a share of them. */
  const answer: Layer = (decoded) => tf.tidy(() => last(decoderNorms.at(-1)!(decoded)))

  /** Turns magnitudes into the answer. */
  const logits: Layer = (magnitudes) => tf.tidy(() => answer(decode(encode(magnitudes)).at(-1)!))

  return { encode, activate, decode, answer, logits }
}
