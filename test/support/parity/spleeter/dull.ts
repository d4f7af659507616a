/**
 * Masks like the reference's `zeros` mode, in which no stem has anything above the network's bins.
 */
import { maskOf } from '../../../../models/spleeter/masks.ts'
import type { SpleeterConfig } from '../../../../models/spleeter/config.ts'
import { spectrumOf, wavesOf } from '../../../../models/spleeter/spectrum.ts'
import { pad, tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'

/**
 * Like `maskOf`, for one song: turns shares [segments, frames, bins, 2] into [2, frames, all bins].
 */
export function dullMaskOf(shares: Tensor, config: SpleeterConfig): Tensor {
  return tf.tidy(() => {
    const lower = tf.slice(maskOf(shares, 1, config), [0, 0, 0], [-1, -1, config.bins])
    return pad(lower, { 2: [0, config.window / 2 + 1 - config.bins] })
  })
}

/** Applies a stem's shares to a mixture [1, 2, samples]; returns the stem in the same shape. */
export function dullWaveOf(mixture: Tensor, shares: Tensor, config: SpleeterConfig): Tensor {
  return tf.tidy(() => {
    const spectrum = spectrumOf(mixture.squeeze([0]), config)
    const mask = dullMaskOf(shares, config)
    const part = tf.complex(tf.real(spectrum).mul(mask), tf.imag(spectrum).mul(mask))
    return wavesOf(part, mixture.shape[2]!, config).expandDims(0)
  })
}
