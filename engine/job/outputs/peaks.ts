/**
 * The peaks of mixture, targets and residual, with which players draw long media without decoding
 * it: minimum and maximum of each bucket of samples, as in audiowaveform's JSON (version 2, 8
 * bits).
 */

import type { OutputName } from '../../../shared/messages.ts'
import type { PreviewIndex } from './preview-index.ts'

/** Buckets in one output, times its channels: enough for a screen and some zoom. */
export const PEAKS_MAX = 8_192
/** Samples in the first buckets. Buckets are merged in pairs whenever there are too many. */
const BUCKET_SAMPLES = 256

/** One output in audiowaveform's format: minimum and maximum of each channel, bucket by bucket. */
export interface Waveform {
  version: 2
  channels: number
  sample_rate: number
  samples_per_pixel: number
  bits: 8
  length: number
  data: number[]
}

/** Collects peaks while the outputs are written. */
export class Peaks {
  readonly #sampleRate: number
  readonly #tracks: ReadonlyMap<OutputName | 'mixture', Track>

  /** @param max like `PEAKS_MAX` */
  constructor(
    names: readonly OutputName[],
    { sampleRate, channels }: { sampleRate: number; channels: number },
    max = PEAKS_MAX,
  ) {
    this.#sampleRate = sampleRate
    const sounds = ['mixture' as const, ...names]
    this.#tracks = new Map(sounds.map((name) => [name, new Track(channels, max)]))
  }

  add(name: OutputName | 'mixture', planes: readonly Float32Array[]): void {
    this.#tracks.get(name)!.add(planes)
  }

  /**
   * Returns JSON with `mixture`, `targets` in order, and `residual`.
   * @param gain a factor for every sample
   * @param preview of the same sounds, if there is one
   */
  toJson(gain: number, preview?: PreviewIndex): string {
    const { mixture, residual, ...targets } = Object.fromEntries(
      [...this.#tracks].map(([name, track]) => [name, track.waveform(this.#sampleRate, gain)]),
    )
    return JSON.stringify({ mixture, targets: Object.values(targets), residual, preview })
  }
}

/** Minimum and maximum of each bucket, one channel after the other. */
class Track {
  readonly #bucketsMax: number
  readonly #least: number[][]
  readonly #greatest: number[][]
  #bucketSamples = BUCKET_SAMPLES
  /** How many samples the last bucket has. */
  #inLast = BUCKET_SAMPLES

  constructor(channels: number, max: number) {
    this.#bucketsMax = Math.floor(max / channels)
    const empty = () => Array.from({ length: channels }, (): number[] => [])
    this.#least = empty()
    this.#greatest = empty()
  }

  add(planes: readonly Float32Array[]): void {
    const { length } = planes[0]!
    for (let at = 0; at < length;) {
      if (this.#inLast === this.#bucketSamples) this.#beginBucket()
      const end = Math.min(length, at + this.#bucketSamples - this.#inLast)
      for (const [channel, plane] of planes.entries()) {
        this.#widen(channel, rangeOf(plane, at, end))
      }
      this.#inLast += end - at
      at = end
    }
  }

  waveform(sampleRate: number, gain: number): Waveform {
    const buckets = this.#least[0]!.length
    const data: number[] = []
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      for (const [channel, least] of this.#least.entries()) {
        const greatest = this.#greatest[channel]!
        data.push(toEightBits(gain * least[bucket]!), toEightBits(gain * greatest[bucket]!))
      }
    }
    return {
      version: 2,
      channels: this.#least.length,
      sample_rate: sampleRate,
      samples_per_pixel: this.#bucketSamples,
      bits: 8,
      length: buckets,
      data,
    }
  }

  #beginBucket(): void {
    if (this.#least[0]!.length === this.#bucketsMax) this.#halve()
    // Halving an odd number leaves room in the last one.
    if (this.#inLast < this.#bucketSamples) return
    for (const buckets of this.#least) buckets.push(Infinity)
    for (const buckets of this.#greatest) buckets.push(-Infinity)
    this.#inLast = 0
  }

  /** Merges pairs of buckets. */
  #halve(): void {
    const pairs = (buckets: number[], merge: (a: number, b: number) => number): number[] =>
      Array.from({ length: Math.ceil(buckets.length / 2) }, (_, i) =>
        merge(buckets[2 * i]!, buckets[2 * i + 1] ?? buckets[2 * i]!),
      )
    if (this.#least[0]!.length % 2 === 0) this.#inLast += this.#bucketSamples
    this.#bucketSamples *= 2
    for (const channel of this.#least.keys()) {
      this.#least[channel] = pairs(this.#least[channel]!, Math.min)
      this.#greatest[channel] = pairs(this.#greatest[channel]!, Math.max)
    }
  }

  #widen(channel: number, { low, high }: Range): void {
    const [least, greatest] = [this.#least[channel]!, this.#greatest[channel]!]
    const last = least.length - 1
    least[last] = Math.min(least[last]!, low)
    greatest[last] = Math.max(greatest[last]!, high)
  }
}

interface Range {
  low: number
  high: number
}

function rangeOf(samples: Float32Array, from: number, to: number): Range {
  let [low, high] = [Infinity, -Infinity]
  for (let i = from; i < to; i += 1) {
    const sample = samples[i]!
    if (sample < low) low = sample
    if (sample > high) high = sample
  }
  return { low, high }
}

const toEightBits = (sample: number): number =>
  Math.max(-128, Math.min(127, Math.round(sample * 127)))
