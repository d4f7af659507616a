/**
 * Between waveforms and the spectrum whose magnitudes the network reads. Frames are not centred: a
 * window of silence stands before the first sample, and frames begin at every hop.
 */
import { istft, spectraOf } from '../layers/stft.ts'
import type { Framing } from '../layers/framing.ts'
import { pad, tf, type Tensor } from '../tensorflow/tensor.ts'
import { HOPS_PER_WINDOW, type SpleeterConfig } from './config.ts'

/** Frames of so many samples, in whole segments. */
function framesOf(samples: number, { window, frames }: SpleeterConfig): number {
  const hop = window / HOPS_PER_WINDOW
  return frames * Math.ceil(Math.ceil((samples + window) / hop) / frames)
}

/** The most samples that one segment covers, each by as many frames as a window has hops. */
export const segmentSamples = ({ window, frames }: SpleeterConfig): number =>
  (frames - HOPS_PER_WINDOW) * (window / HOPS_PER_WINDOW)

function framingOf(samples: number, config: SpleeterConfig): Framing {
  const hop = config.window / HOPS_PER_WINDOW
  return { hop, frames: framesOf(samples, config), shift: config.window / 2 }
}

/** waves [rows, samples] to complex [rows, frames, window / 2 + 1], frames in whole segments. */
export function spectrumOf(waves: Tensor, config: SpleeterConfig): Tensor {
  return tf.tidy(() => {
    const samples = waves.shape[1]!
    const framing = framingOf(samples, config)
    const length = (framing.frames + HOPS_PER_WINDOW - 1) * framing.hop
    const padded = pad(waves, [
      [0, 0],
      [config.window, length - config.window - samples],
    ])
    return spectraOf(padded, framing)
  })
}

/** The inverse of `spectrumOf`: [rows, samples]. */
export const wavesOf = (spectrum: Tensor, samples: number, config: SpleeterConfig): Tensor =>
  istft(spectrum, framingOf(samples, config), samples)

/**
 * The network's input: spectrum [batch · channels, frames, window / 2 + 1] to magnitudes of the
 * lower bins, [segments, frames of one, bins, channels].
 */
export function magnitudesOf(spectrum: Tensor, channels: number, config: SpleeterConfig): Tensor {
  return tf.tidy(() => {
    const [rows, frames] = spectrum.shape as [number, number]
    const lower = tf.slice(spectrum, [0, 0, 0], [-1, -1, config.bins])
    const [real, imaginary] = [tf.real(lower), tf.imag(lower)]
    const magnitude = real.square().add(imaginary.square()).sqrt()
    const byChannel = magnitude.reshape([rows / channels, channels, frames, config.bins])
    return tf.transpose(byChannel, [0, 2, 3, 1]).reshape([-1, config.frames, config.bins, channels])
  })
}
