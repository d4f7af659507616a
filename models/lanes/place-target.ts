/** Distributes a mono target over the channels of its mixture. */
import { frameCount, type Framing } from '../layers/framing.ts'
import { istft, stft } from '../layers/stft.ts'
import { pad, tf, type Tensor } from '../tensorflow/tensor.ts'

const WINDOW = 2_048
const HOP = 512

/** Share of the target's mean power below which a bin says nothing about where the target is. */
const POWER_SHARE_MIN = 1e-6

/** Far below the power of any sound; prevents division by 0. */
const TINY = 1e-30

/**
 * Estimates for each channel and frequency bin, over the whole chunk, the least-squares gain with
 * which the target explains the most of the mixture. The sound of the target itself does not
 * change.
 * @param mixture [channels][samples]
 * @param target of the mean of the channels
 * @returns [channels][samples]; for one channel the target itself
 */
export function placeTarget(
  mixture: readonly Float32Array[],
  target: Float32Array,
): Float32Array[] {
  if (mixture.length === 1) return [target]
  const samples = Math.max(target.length, WINDOW)
  const frames = frameCount(samples, HOP, 0)
  const framing: Framing = { hop: HOP, window: WINDOW, frames, shift: 0 }
  const flat = tf.tidy(() => {
    const waves = tf.stack(
      [target, ...mixture].map((wave) => pad(tf.tensor1d(wave), { 0: [0, samples - wave.length] })),
    )
    const spectra = stft(waves, framing) // [1 + channels, frames, bins]
    const [first, others] = [
      tf.slice(spectra, [0, 0, 0], [1, -1, -1]),
      tf.slice(spectra, [1, 0, 0], [-1, -1, -1]),
    ]
    const [a, b] = [tf.real(first), tf.imag(first)]
    const [c, d] = [tf.real(others), tf.imag(others)]
    const over = (x: Tensor) => x.sum(1, true) // [channels, 1, bins]
    const power = over(a.square().add(b.square()))
    const least = power.mean().mul(POWER_SHARE_MIN).add(TINY)
    const gain = {
      real: over(c.mul(a).add(d.mul(b))).div(power.add(least)),
      imaginary: over(d.mul(a).sub(c.mul(b))).div(power.add(least)),
    }
    const real = a.mul(gain.real).sub(b.mul(gain.imaginary))
    const imaginary = a.mul(gain.imaginary).add(b.mul(gain.real))
    return istft(tf.complex(real, imaginary), framing, samples)
  })
  try {
    const values = flat.dataSync<'float32'>()
    return mixture.map((_, i) => values.slice(i * samples, i * samples + target.length))
  } finally {
    flat.dispose()
  }
}
