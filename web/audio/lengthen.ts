/** Waveforms of media that is not separated to its end yet. */

import type { Waveform } from '../../clients/typescript/client.ts'

/** Limits the work of drawing a waveform again and again; screens have fewer pixels. */
const BUCKETS_MAX = 8_192

/**
 * Appends silence, up to the length of the media in seconds. Merges buckets, because the first
 * peaks of long media are so fine that the silence would fill the memory.
 */
export function lengthen(waveform: Waveform, seconds: number): Waveform {
  const { sample_rate: rate, samples_per_pixel: bucket, channels, data } = waveform
  const whole = Math.max(waveform.length, Math.ceil((seconds * rate) / bucket))
  const merged = Math.ceil(whole / BUCKETS_MAX)
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
