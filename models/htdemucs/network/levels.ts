/** The encoders and decoders of both branches, level by level. */
import type { Layer } from '../../layers/layers.ts'
import { tf } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { HTDemucsConfig } from '../config.ts'
import type { Branch, Branches } from './branches.ts'
import { STRIDE } from './convolution.ts'
import { loadDecoder } from './decoder.ts'
import { loadEncoder } from './encoder.ts'

/** Real and imaginary part. */
const PARTS = 2

const NAMES = {
  spectrogram: { encoder: 'encoder', decoder: 'decoder' },
  waveform: { encoder: 'tencoder', decoder: 'tdecoder' },
} as const

/** Returns the channels after each encoder. */
export const widthsOf = ({ channels, depth }: HTDemucsConfig): number[] =>
  Array.from({ length: depth }, (_, i) => channels * 2 ** i)

const inputWidth = (branch: Branch, { audioChannels }: HTDemucsConfig): number =>
  branch === 'spectrogram' ? PARTS * audioChannels : audioChannels

const inBoth = <T>(load: (branch: Branch) => T): Record<Branch, T> => ({
  spectrogram: load('spectrogram'),
  waveform: load('waveform'),
})

export function loadEncoders(weights: Weights, config: HTDemucsConfig) {
  const widths = widthsOf(config)
  const levels = widths.map((width, i) =>
    inBoth((branch) => {
      const input = widths[i - 1] ?? inputWidth(branch, config)
      return loadEncoder(weights.at(NAMES[branch].encoder).at(i), branch, input, width, config)
    }),
  )
  const embedBins = loadBinEmbedding(weights, config)

  /** Returns the outputs of all encoders, starting with the first. */
  const encode = (input: Branches): Branches[] => {
    const outputs: Branches[] = []
    for (const [i, level] of levels.entries()) {
      const { spectrogram, waveform } = outputs.at(-1) ?? input
      const encoded = level.spectrogram.forward(spectrogram)
      outputs.push({
        spectrogram: i === 0 ? embedBins(encoded) : encoded,
        waveform: level.waveform.forward(waveform),
      })
    }
    return outputs
  }

  return { levels, encode }
}

/**
 * Adds an embedding of its position to each bin of the first encoder's output (ScaledEmbedding).
 */
function loadBinEmbedding(weights: Weights, config: HTDemucsConfig): Layer {
  const { channels, embeddingScale, frequencyEmbedding, window } = config
  const bins = window / 2 / STRIDE
  const table = weights.at('freq_emb').at('embedding').get('weight', [bins, channels])
  const scaled = tf.tidy(() => table.mul(embeddingScale * frequencyEmbedding)) // [bins, channels]
  return (x) => x.add(scaled)
}

export function loadDecoders(weights: Weights, config: HTDemucsConfig) {
  const { depth, sources } = config
  const widths = widthsOf(config).toReversed()
  const levels = widths.map((width, j) =>
    inBoth((branch) => {
      const next = widths[j + 1]
      const sizes = {
        in: width,
        out: next ?? sources.length * inputWidth(branch, config),
        isLast: next === undefined,
      }
      return loadDecoder(weights.at(NAMES[branch].decoder).at(j), branch, sizes, config)
    }),
  )

  /**
   * Returns the outputs of all decoders, starting with the first.
   * @param encoded the outputs of the encoders for `input`
   */
  const decode = (start: Branches, encoded: readonly Branches[], input: Branches): Branches[] => {
    const outputs: Branches[] = []
    for (const [j, level] of levels.entries()) {
      const x = outputs.at(-1) ?? start
      const skip = encoded[depth - 1 - j]!
      const target = encoded[depth - 2 - j] ?? input
      const decodeBranch = (branch: Branch) =>
        level[branch](x[branch], skip[branch], target[branch].shape[2]!)
      outputs.push(inBoth(decodeBranch))
    }
    return outputs
  }

  return { decode }
}
