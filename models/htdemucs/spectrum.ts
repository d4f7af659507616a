/**
 * Converts between waveforms and the spectrogram that the network reads (HTDemucs._spec, ._ispec).
 */
import { interleaveChannels, istft, separateChannels, stft } from '../layers/stft.ts'
import { pad, tf, type Tensor } from '../tensorflow/tensor.ts'

/** Returns how many frames the spectrogram of this many samples has. */
export const spectrumFrames = (samples: number, window: number): number =>
  Math.ceil(samples / hopOf(window))

const hopOf = (window: number): number => window / 4

/** Frame 0 is centred half a hop after the first sample. */
const framingOf = (samples: number, window: number) => ({
  hop: hopOf(window),
  frames: spectrumFrames(samples, window),
  shift: -hopOf(window) / 2,
})

/**
 * Turns waves [batch, channels, samples] into real and imaginary parts of all bins except the last,
 * [batch, frames, window / 2, channels · 2], divided by the square root of the window length.
 */
export function spectrumOf(waves: Tensor, window: number): Tensor {
  return tf.tidy(() => {
    const [batch, channels, samples] = waves.shape as [number, number, number]
    const framing = framingOf(samples, window)
    const spectrum = stft(waves.reshape([batch * channels, samples]), framing)
    const parts = interleaveChannels(spectrum, channels) // [batch, frames, bins + 1, channels · 2]
    return tf.slice(parts, [0, 0, 0, 0], [-1, -1, window / 2, -1]).div(Math.sqrt(window))
  })
}

/** Zero frames on either side, whose windows count in the inverse. */
const SILENT_FRAMES = 2

/**
 * Inverts `spectrumOf`: parts [batch, frames, bins, rows · 2] to waves [batch, rows, samples].
 * @param samples the same as for `spectrumOf`
 */
export function wavesOf(parts: Tensor, samples: number): Tensor {
  return tf.tidy(() => {
    const [batch, frames, bins, twice] = parts.shape as [number, number, number, number]
    const window = 2 * bins
    const rows = twice / 2
    const padded = separateChannels(parts.mul(Math.sqrt(window))).map((part) =>
      pad(part, { 1: [SILENT_FRAMES, SILENT_FRAMES], 2: [0, 1] }),
    ) as [Tensor, Tensor]
    const framing = framingOf(samples, window)
    const waves = istft(
      tf.complex(...padded),
      {
        hop: framing.hop,
        frames: frames + 2 * SILENT_FRAMES,
        shift: framing.shift + SILENT_FRAMES * framing.hop,
      },
      samples,
    )
    return waves.reshape([batch, rows, samples])
  })
}
