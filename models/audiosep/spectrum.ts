/**
 * Converts between waveforms and the network's input and output (torchlibrosa's STFT and ISTFT).
 */
import { frameCount, type Framing } from '../layers/framing.ts'
import { istft, stft } from '../layers/stft.ts'
import { pad, tf, type Tensor } from '../tensorflow/tensor.ts'
import type { AudioSepConfig } from './config.ts'

/** A bin with less power than this counts as silent. */
const POWER_MIN = 1e-10

export interface Spectrum {
  /** All are [rows, frames, bins]. */
  real: Tensor
  imaginary: Tensor
  magnitude: Tensor
}

const framingOf = (samples: number, { window, hop }: AudioSepConfig): Framing => ({
  hop,
  window,
  frames: frameCount(samples, hop, 0),
  shift: 0,
})

/** Returns the spectrum of waves [rows, samples], which must be longer than half a window. */
export function spectrumOf(waves: Tensor, config: AudioSepConfig): Spectrum {
  return tf.tidy(() => {
    const spectrum = stft(waves, framingOf(waves.shape[1]!, config))
    const [real, imaginary] = [tf.real(spectrum), tf.imag(spectrum)]
    const power = real.square().add(imaginary.square())
    return { real, imaginary, magnitude: power.maximum(POWER_MIN).sqrt() }
  })
}

/**
 * Returns the waves [rows, samples] that result from applying the network's answer to the mixture's
 * spectrum.
 * @param answer [rows, at least frames, bins - 1, 3]: the gain's logit, and the logits of the
 *   rotation's real and imaginary part; the last bin is silent
 */
export function wavesOf(
  { real, imaginary }: Spectrum,
  answer: Tensor,
  samples: number,
  config: AudioSepConfig,
): Tensor {
  const framing = framingOf(samples, config)
  return tf.tidy(() => {
    const used = tf.slice(answer, [0, 0, 0, 0], [-1, framing.frames, -1, -1])
    const [gain, re, im] = tf.unstack(used, 3) as [Tensor, Tensor, Tensor]
    const [turnRe, turnIm] = [re.tanh(), im.tanh()]
    const length = turnRe.square().add(turnIm.square()).sqrt().maximum(1e-10)
    const scale = gain.sigmoid().div(length)
    const [c, s] = [turnRe.mul(scale), turnIm.mul(scale)] // the magnitude is never raised
    const cut = (x: Tensor) => tf.slice(x, [0, 0, 0], [-1, -1, config.window / 2])
    const [a, b] = [cut(real), cut(imaginary)]
    const withLast = (x: Tensor) => pad(x, { 2: [0, 1] })
    const target = tf.complex(withLast(a.mul(c).sub(b.mul(s))), withLast(b.mul(c).add(a.mul(s))))
    return istft(target, framing, samples)
  })
}
