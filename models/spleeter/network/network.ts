/** Spleeter: a U-Net for each stem reads magnitudes, and their answers divide up the spectrum. */
import { compiled } from '../../graph/compiled.ts'
import { softmax, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { SpleeterConfig } from '../config.ts'
import { maskOf, sharesOf } from '../masks.ts'
import { magnitudesOf, spectrumOf, wavesOf } from '../spectrum.ts'
import { loadUNet } from './unet.ts'

/** How many channels the network reads together. */
export const CHANNELS = 2

export type Network = ReturnType<typeof loadNetwork>

/**
 * Loads all parts. Callers use `separate`; tests use the parts too.
 * @throws Error naming weights that are missing or misshapen
 */
export function loadNetwork(weights: Weights, config: SpleeterConfig) {
  const nets = config.stems.map((_, stem) => loadUNet(weights, stem, CHANNELS, config))

  /**
   * Returns each stem's magnitudes, given those of the mixture [segments, frames, bins, channels].
   */
  const outputsOf = (magnitudes: Tensor): Tensor[] =>
    tf.tidy(() => {
      const logits = nets.map((net) => net.logits(magnitudes))
      const gains = config.isSoftmax
        ? tf.unstack(softmax(tf.stack(logits, -1)), -1)
        : logits.map((x) => tf.sigmoid(x))
      return gains.map((gain) => gain.mul(magnitudes))
    })

  /**
   * Separates mixture [batch, channels, samples] into stems [batch, stems, channels, samples],
   * which add up to the mixture: the last stem is what the others leave. The items of a batch do
   * not affect each other.
   */
  const separate = compiled((mixture: Tensor): Tensor =>
    tf.tidy(() => {
      const [batch, channels, samples] = mixture.shape as [number, number, number]
      const spectrum = spectrumOf(mixture.reshape([batch * channels, samples]), config)
      const [real, imaginary] = [tf.real(spectrum), tf.imag(spectrum)]
      const shares = sharesOf(outputsOf(magnitudesOf(spectrum, channels, config)))
      const stems = shares.slice(0, -1).map((share) => {
        const mask = maskOf(share, batch, config)
        const part = tf.complex(real.mul(mask), imaginary.mul(mask))
        return wavesOf(part, samples, config).reshape([batch, channels, samples])
      })
      return tf.stack([...stems, mixture.sub(tf.addN(stems))], 1)
    }),
  )

  return { nets, outputsOf, separate }
}
