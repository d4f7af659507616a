/** Converts between waveforms and the spectrogram that the network reads, without window taper. */
import type { Framing } from '../layers/framing.ts'
import { interleaveChannels, istft, separateChannels, stft } from '../layers/stft.ts'
import { pad, tf, transpose, type Tensor } from '../tensorflow/tensor.ts'
import type { ScnetConfig } from './config.ts'

/**
 * Returns how many frames the spectrogram of this many samples has, an even number. Zeros are
 * appended to the samples to reach it, at least one, and more than half a window in all.
 */
export function spectrumFrames(samples: number, { window, hop }: ScnetConfig): number {
  const hops = Math.max(1 + Math.floor(samples / hop), 1 + Math.floor(window / 2 / hop))
  return hops % 2 === 0 ? hops + 2 : hops + 1
}

function framingOf(samples: number, config: ScnetConfig): Framing {
  const { window, hop } = config
  return { window, hop, frames: spectrumFrames(samples, config), shift: 0, taper: 'none' }
}

const scaleOf = ({ isScaled, window }: ScnetConfig): number => (isScaled ? Math.sqrt(window) : 1)

/**
 * Turns waves [batch, channels, samples] into [batch, bins, frames, channels · 2], with the real
 * and imaginary part of each channel.
 */
export function spectrumOf(waves: Tensor, config: ScnetConfig): Tensor {
  return tf.tidy(() => {
    const [batch, channels, samples] = waves.shape as [number, number, number]
    const framing = framingOf(samples, config)
    const padded = pad(waves.reshape([batch * channels, samples]), {
      1: [0, (framing.frames - 1) * framing.hop - samples],
    })
    const parts = interleaveChannels(stft(padded, framing), channels)
    return transpose(parts, [0, 2, 1, 3]).div(scaleOf(config))
  })
}

/**
 * Inverts `spectrumOf`: parts [batch, bins, frames, rows · 2] to waves [batch, rows, samples].
 * @param samples the same as for `spectrumOf`
 */
export function wavesOf(parts: Tensor, samples: number, config: ScnetConfig): Tensor {
  return tf.tidy(() => {
    const [batch, , , twice] = parts.shape as [number, number, number, number]
    const byFrame = transpose(parts.mul(scaleOf(config)), [0, 2, 1, 3])
    const spectrum = tf.complex(...separateChannels(byFrame))
    return istft(spectrum, framingOf(samples, config), samples).reshape([batch, twice / 2, samples])
  })
}
