/** The tagger's input: a log-mel spectrogram with absolute levels. */
import { LruCache } from '../lru-cache.ts'
import { spectraOf } from '../layers/stft.ts'
import { multiply, tf, upload, type Tensor } from '../tensorflow/tensor.ts'
import { CENTRE, FLOOR, melMatrix, MELS, SCALE, type MelFraming } from './mel.ts'

/**
 * Returns the mel power of padded waves [rows, samples] as [rows, frames, MELS]; a full-scale sine
 * has 1/4.
 */
export function melPower(padded: Tensor, framing: MelFraming): Tensor {
  const { hop, window } = framing
  return tf.tidy(() => {
    const frames = padded.shape[1]! / hop - Math.ceil(window / hop) + 1
    const spectrum = spectraOf(padded, { hop, frames, shift: 0, window })
    const power = tf.real(spectrum).square().add(tf.imag(spectrum).square())
    const matrix = upload(scaledMatrix(framing), [window / 2 + 1, MELS])
    return multiply(power, matrix)
  })
}

/**
 * Caches the matrices of recently used rates, because making one takes longer than the products of
 * a minute.
 */
const matrices = new LruCache<Float32Array>(8)

function scaledMatrix(framing: MelFraming): Float32Array {
  const scale = (2 / framing.window) ** 2 // the Hann window's sum is half its length
  const make = () => melMatrix(framing).map((weight) => weight * scale)
  return matrices.get(String(framing.sampleRate), make)
}

/** Turns power into the network's input of the same shape. */
export const logMel = (power: Tensor): Tensor =>
  tf.tidy(() => power.add(FLOOR).log().sub(CENTRE).div(SCALE))
