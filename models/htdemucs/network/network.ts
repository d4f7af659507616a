/** HTDemucs: a spectrogram and a waveform branch, with a transformer across both. */
import { compiled } from '../../graph/compiled.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { HTDemucsConfig } from '../config.ts'
import { spectrumOf, wavesOf } from '../spectrum.ts'
import { loadBottleneck } from './bottleneck.ts'
import type { Branches } from './branches.ts'
import { loadDecoders, loadEncoders, widthsOf } from './levels.ts'
import { momentsOf, normalize, restore } from '../../layers/norms.ts'

export type Network = ReturnType<typeof loadNetwork>

/**
 * Loads all parts. Callers use `separate`; tests use the parts too.
 * @throws Error naming weights that are missing or misshapen
 */
export function loadNetwork(weights: Weights, config: HTDemucsConfig) {
  const { audioChannels, segmentSamples, sources, window } = config
  const { levels: encoders, encode } = loadEncoders(weights, config)
  const { decode } = loadDecoders(weights, config)
  const bottleneck = loadBottleneck(weights, config, widthsOf(config).at(-1)!)

  /** Runs the network itself: normalised inputs to outputs, in the layout of the branches. */
  const forward = compiled((input: Branches): Branches =>
    tf.tidy(() => {
      const encoded = encode(input)
      return { ...decode(bottleneck.cross(encoded.at(-1)!), encoded, input).at(-1)! }
    }),
  )

  /**
   * Separates mixture [batch, channels, segmentSamples] into stems [batch, stems, channels,
   * segmentSamples]. The items of a batch do not affect each other.
   */
  const separate = (mixture: Tensor): Tensor =>
    tf.tidy(() => {
      const batch = mixture.shape[0]!
      const spectrogram = spectrumOf(mixture, window)
      const ofSpectrogram = momentsOf(spectrogram)
      // [batch, 1, samples, channels]
      const waveform = tf.transpose(mixture, [0, 2, 1]).expandDims(1)
      const ofWaveform = momentsOf(waveform)
      const outputs = forward({
        spectrogram: normalize(spectrogram, ofSpectrogram),
        waveform: normalize(waveform, ofWaveform),
      })
      const inFrequency = wavesOf(restore(outputs.spectrogram, ofSpectrogram), segmentSamples)
      const inTime = tf.transpose(restore(outputs.waveform, ofWaveform).squeeze([1]), [0, 2, 1])
      return inFrequency.add(inTime).reshape([batch, sources.length, audioChannels, segmentSamples])
    })

  return { encoders, bottleneck, encode, decode, separate }
}
