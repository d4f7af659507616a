/**
 * SCNet: a spectrogram in bands, with recurrent layers along bins and frames in the middle (W. Tong
 * and others, "SCNet: Sparse Compression Network for Music Source Separation", 2024).
 */
import { compiled } from '../../graph/compiled.ts'
import { momentsOf, normalize, restore } from '../../layers/norms.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { ScnetConfig } from '../config.ts'
import { spectrumOf, wavesOf } from '../spectrum.ts'
import { loadDecoder } from './decoder.ts'
import { loadDualPath, toFrames, toFrequencies } from './dual-path.ts'
import { loadEncoder } from './encoder.ts'

export type Network = ReturnType<typeof loadNetwork>

/**
 * Loads all parts. Callers use `separate`; tests use the parts too.
 * @throws Error naming weights that are missing or misshapen
 */
export function loadNetwork(weights: Weights, config: ScnetConfig) {
  const { audioChannels, levelsSpectrum, sources } = config
  const parts = loadParts(weights, config)
  const encode = encoding(parts)
  const transform = transformation(parts)
  const decode = decoding(parts)

  /** Turns a spectrum into those of all stems, [batch, bins, frames, stems · channels · 2]. */
  const forward = (spectrum: Tensor): Tensor =>
    tf.tidy(() => {
      const { output, skips } = encode(spectrum)
      let x = output
      for (const transformed of transform(output)) x = transformed
      return decode(x, skips)
    })

  /** Like `forward`, with the spectrum at the level that the network was trained for. */
  const levelled = (spectrum: Tensor): Tensor => {
    if (!levelsSpectrum) return forward(spectrum)
    return tf.tidy(() => {
      const moments = momentsOf(spectrum)
      return restore(forward(normalize(spectrum, moments)), moments)
    })
  }

  /**
   * Separates mixture [batch, channels, samples] into stems [batch, stems, channels, samples]. The
   * items of a batch do not affect each other.
   */
  const separate = (mixture: Tensor): Tensor =>
    tf.tidy(() => {
      const [batch, , samples] = mixture.shape as [number, number, number]
      const waves = wavesOf(levelled(spectrumOf(mixture, config)), samples, config)
      return waves.reshape([batch, sources.length, audioChannels, samples])
    })

  return { ...parts, encode, transform, separate }
}

type Parts = ReturnType<typeof loadParts>

function loadParts(weights: Weights, config: ScnetConfig) {
  const { dims, pairs } = config
  const levels = Array.from({ length: dims.length - 1 }, (_, level) => level)
  const modules = weights.at('separation_net').at('dp_modules')
  return {
    encoders: levels.map((i) => loadEncoder(weights.at('encoder').at(i), i, config)),
    dualPaths: Array.from({ length: pairs }, (_, i) =>
      loadDualPath(modules.at(i), dims.at(-1)! * (1 + (i % 2)), config),
    ),
    decoders: levels.map((i) => loadDecoder(weights.at('decoder').at(i), i, config)),
  }
}

interface EncodedLevels {
  output: Tensor
  /** Skips of all encoders, starting with the first. */
  skips: Tensor[]
}

/** Runs a spectrum [batch, bins, frames, channels · 2] through all encoders. */
const encoding = ({ encoders }: Parts) =>
  compiled((spectrum: Tensor): EncodedLevels =>
    tf.tidy(() => {
      const skips: Tensor[] = []
      let output = spectrum
      for (const encoder of encoders) {
        const encoded = encoder.forward(output)
        skips.push(encoded.skip)
        output = encoded.output
      }
      return { output, skips }
    }),
  )

/** Continues after the last encoder; yields the output of each pair of recurrent layers. */
const transformation = ({ dualPaths }: Parts) =>
  function* (x: Tensor): Generator<Tensor> {
    let input = x.clone()
    for (const [i, dualPath] of dualPaths.entries()) {
      const output = tf.tidy(() => {
        const output = dualPath.forward(input)
        return i % 2 === 0 ? toFrequencies(output) : toFrames(output)
      })
      input.dispose()
      yield output
      input = output
    }
  }

/** Runs all decoders, starting with that of the last encoder. */
const decoding = ({ decoders }: Parts) =>
  compiled((x: Tensor, skips: readonly Tensor[]): Tensor =>
    tf.tidy(() =>
      decoders.reduce((y, decoder, level) => decoder.forward(y, skips.at(-1 - level)!), x),
    ),
  )
