/**
 * Checks whether an LFE channel has more than low frequencies. Field recorders and music use it for
 * any sound, but AAC keeps only what is below some 300 Hz of it.
 */

import { lfeChannelOf } from '../channel-layout.ts'
import type { Mixture } from './mixture.ts'

/** Above what AAC keeps at 48 kHz, which is 12 of 1,024 lines. */
const CUTOFF_HERTZ = 400
/** Eighth order, which attenuates 120 Hz, where an LFE should end, by 84 dB. */
const QUALITIES = [0.5098, 0.6013, 0.9, 2.5629]
/** Mean squares: -80 dB below full scale, and -40 dB below the channel. */
const POWER_MIN = 1e-8
const SHARE_MIN = 1e-4
/**
 * In seconds. Hardly any recording has a channel that is silent for longer than this, and decoding
 * it takes seconds.
 */
const SECONDS_MAX = 600

/** Reads blocks of `mixture` until one exceeds the range. */
export async function lfeHasFullRange(
  mixture: Pick<Mixture, 'channelMask' | 'sampleRate' | 'blocks'>,
): Promise<boolean> {
  const channel = lfeChannelOf(mixture.channelMask)
  if (channel < 0) return false
  const filters = QUALITIES.map((quality) => highPass(mixture.sampleRate, quality))
  let seconds = 0
  for await (const block of mixture.blocks()) {
    const wave = block[channel]!
    const all = powerOf(wave)
    for (const filter of filters) filter(wave)
    const high = powerOf(wave)
    if (high > POWER_MIN && high > SHARE_MIN * all) return true
    seconds += wave.length / mixture.sampleRate
    if (seconds >= SECONDS_MAX) return false
  }
  return false
}

function powerOf(wave: Float32Array): number {
  let sum = 0
  for (const x of wave) sum += x * x
  return sum / wave.length
}

/** One section of a Butterworth filter, which works in place and across blocks. */
function highPass(sampleRate: number, quality: number): (wave: Float32Array) => void {
  const angle = (2 * Math.PI * CUTOFF_HERTZ) / sampleRate
  const alpha = Math.sin(angle) / (2 * quality)
  const cosine = Math.cos(angle)
  const gain = (1 + cosine) / 2 / (1 + alpha)
  const [back1, back2] = [(2 * cosine) / (1 + alpha), (alpha - 1) / (1 + alpha)]
  let [x1, x2, y1, y2] = [0, 0, 0, 0]
  return (wave) => {
    for (let i = 0; i < wave.length; i++) {
      const x = wave[i]!
      const y = gain * (x - 2 * x1 + x2) + back1 * y1 + back2 * y2
      x2 = x1
      x1 = x
      y2 = y1
      y1 = y
      wave[i] = y
    }
  }
}
