/**
 * Converts between waveforms and the spectrum whose magnitudes the network reads. Frames are not
 * centred: a window of silence precedes the first sample, and a frame starts at every hop.
 */
import { istft, spectraOf } from '../layers/stft.ts'
import type { Framing } from '../layers/framing.ts'
import { pad, tf, type Tensor } from '../tensorflow/tensor.ts'
import { HOPS_PER_WINDOW, type SpleeterConfig } from './config.ts'

/** Returns how many frames this many samples have, in whole segments. */
function framesOf(samples: number, { window, frames }: SpleeterConfig): number {
  const hop = window / HOPS_PER_WINDOW
  return frames * Math.ceil(Math.ceil((samples + window) / hop) / frames)
}

/**
 * Returns how many samples a segment covers at most, each by as many frames as a window has hops.
 */
export const segmentSamples = ({ window, frames }: SpleeterConfig): number =>
  (frames - HOPS_PER_WINDOW) * (window / HOPS_PER_WINDOW)

function framingOf(samples: number, config: SpleeterConfig): Framing {
  const hop = config.window / HOPS_PER_WINDOW
  return { hop, frames: framesOf(samples, config), shift: config.window / 2 }
}

/** Turns waves [rows, samples] into complex [rows, frames, window / 2 + 1], in whole segments. */
export function spectrumOf(waves: Tensor, config: SpleeterConfig): Tensor {
  return tf.tidy(() => {
    const samples = waves.shape[1]!
    const framing = framingOf(samples, config)
    const length = (framing.frames + HOPS_PER_WINDOW - 1) * framing.hop
    const padded = pad(waves, { 1: [config.window, length - config.window - samples] })
    return spectraOf(padded, framing)
  })
}

/** Inverts `spectrumOf`: returns [rows, samples]. */
export const wavesOf = (spectrum: Tensor, samples: number, config: SpleeterConfig): Tensor =>
  istft(spectrum, framingOf(samples, config), samples)

/**
 * Returns the network's input: turns spectrum [batch · channels, frames, window / 2 + 1] into
 * magnitudes of the lower bins, [segments, frames of a segment, bins, channels].
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
