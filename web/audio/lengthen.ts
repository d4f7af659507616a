/** Waveforms of media that is not separated to its end yet. */

import type { Waveform } from '../../clients/typescript/client.ts'

/** How many buckets a waveform has that is drawn anew at every part; screens have fewer pixels. */
const LENGTHENED_BUCKETS_MAX = 8_192

/**
 * Appends silence, up to the length of the media in seconds. The first peaks of long media are so
 * fine that buckets are merged, lest the silence fill the memory.
 */
export function lengthen(waveform: Waveform, seconds: number): Waveform {
  const { sample_rate: rate, samples_per_pixel: bucket, channels, data } = waveform
  const whole = Math.max(waveform.length, Math.ceil((seconds * rate) / bucket))
  const merged = Math.ceil(whole / LENGTHENED_BUCKETS_MAX)
  const length = Math.ceil(whole / merged)
  const lengthened = Array.from({ length: 2 * channels * length }, () => 0)
  for (let i = 0; i < waveform.length; i += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      const from = 2 * (i * channels + channel)
      const to = 2 * (Math.floor(i / merged) * channels + channel)
      const [low, high] = [data[from]!, data[from + 1]!]
      const isFirst = i % merged === 0
      lengthened[to] = isFirst ? low : Math.min(lengthened[to]!, low)
      lengthened[to + 1] = isFirst ? high : Math.max(lengthened[to + 1]!, high)
    }
  }
  return { ...waveform, samples_per_pixel: merged * bucket, length, data: lengthened }
}
