/**
 * The sounds that a mixer plays, in segments of equal length: streamed from a preview, which is
 * fetched and decoded on demand, or decoded completely.
 */

import type { Signal } from '@preact/signals'
import type { PreviewIndex } from '../../clients/typescript/client.ts'
import { decode } from './decode.ts'

export interface Sounds {
  readonly seconds: number
  /** Length of each segment but the last. */
  readonly segmentSeconds: number
  /** Hertz. */
  readonly sampleRate: number
  /** Factor that brings them to the level of the outputs. */
  readonly gain: number
  /** How many seconds of all lanes may be in memory at once. */
  readonly windowSecondsMax: number
  /** How many seconds are there so far; absent if all are. Later segments are waited for. */
  readonly ready?: Signal<number>
  /** Returns segment `k`, with a buffer for each lane. */
  segment(k: number): Promise<readonly AudioBuffer[]>
}

/** Wraps buffers that are already decoded and have the same sample rate. */
export function wholeSounds(buffers: readonly AudioBuffer[]): Sounds {
  const seconds = Math.max(...buffers.map(({ duration }) => duration))
  return {
    seconds,
    segmentSeconds: seconds,
    sampleRate: buffers[0]!.sampleRate,
    gain: 1,
    windowSecondsMax: Infinity,
    segment: () => Promise.resolve(buffers),
  }
}

/** Limits for the decoded segments of all lanes, and for what is cut from them to be drawn. */
const CACHE_BYTES_MAX = 80_000_000
const WINDOW_BYTES_MAX = 40_000_000

/** Returns the encoded segments `k` of all lanes. */
export type SegmentReader = (k: number) => Promise<readonly ArrayBuffer[]> | readonly ArrayBuffer[]

/** @param read fetches bytes of the segments, including the first and the last */
export function segmentReader(
  { bytes, levels }: Pick<PreviewIndex, 'bytes' | 'levels'>,
  read: (first: number, last: number) => Promise<ArrayBuffer>,
): SegmentReader {
  const lanes = levels.length
  const starts = [0]
  for (const length of bytes) starts.push(starts.at(-1)! + length)
  return async (k) => {
    const first = k * lanes
    const offset = starts[first]!
    const segments = await read(offset, starts[first + lanes]! - 1)
    return Array.from({ length: lanes }, (_, lane) =>
      segments.slice(starts[first + lane]! - offset, starts[first + lane + 1]! - offset),
    )
  }
}

interface StreamOptions {
  index: Omit<PreviewIndex, 'bytes'>
  gain: number
  read: SegmentReader
}

export function streamedSounds({ index, gain, read }: StreamOptions): Sounds {
  const { sample_rate: sampleRate, samples, segment_samples: segmentSamples } = index
  const bytesPerSecond = index.levels.length * sampleRate * 2 * 4 // stereo, as 32-bit samples
  const segmentSeconds = segmentSamples / sampleRate
  const cachedMax = Math.max(3, Math.floor(CACHE_BYTES_MAX / (bytesPerSecond * segmentSeconds)))
  /** The most recently used segments come last. */
  const cache = new Map<number, Promise<readonly AudioBuffer[]>>()

  const load = async (k: number): Promise<readonly AudioBuffer[]> => {
    const parts = await read(k)
    const length = Math.min(segmentSamples, samples - k * segmentSamples)
    return Promise.all(parts.map((part) => decodeSegment(part, length, sampleRate)))
  }

  return {
    seconds: samples / sampleRate,
    segmentSeconds,
    sampleRate,
    gain,
    windowSecondsMax: WINDOW_BYTES_MAX / bytesPerSecond,
    segment(k) {
      const segment = cache.get(k) ?? load(k)
      cache.delete(k)
      cache.set(k, segment)
      segment.catch(() => cache.delete(k)) // the next call fetches it again
      for (const oldest of cache.keys()) {
        if (cache.size <= cachedMax) break
        cache.delete(oldest)
      }
      return segment
    },
  }
}

/** Cuts what precedes the sound, for browsers that ignore what the header says about it. */
async function decodeSegment(
  bytes: ArrayBuffer,
  length: number,
  sampleRate: number,
): Promise<AudioBuffer> {
  const decoded = await decode(bytes, sampleRate)
  if (decoded.length === length) return decoded
  const { numberOfChannels } = decoded
  const cut = new AudioBuffer({ length, numberOfChannels, sampleRate })
  for (let channel = 0; channel < numberOfChannels; channel += 1) {
    const plane = decoded.getChannelData(channel)
    cut.copyToChannel(plane.subarray(Math.max(0, plane.length - length)), channel)
  }
  return cut
}

/** Returns the samples of a lane between two times, at most `windowSecondsMax` apart. */
export async function windowOf(
  sounds: Sounds,
  lane: number,
  { start, end }: { start: number; end: number },
): Promise<AudioBuffer> {
  const { segmentSeconds, sampleRate } = sounds
  const [from, to] = [Math.round(start * sampleRate), Math.round(end * sampleRate)]
  const first = Math.floor(start / segmentSeconds)
  const last = Math.max(first, Math.ceil(end / segmentSeconds) - 1)
  let cut: AudioBuffer | undefined
  for (let k = first; k <= last; k += 1) {
    const buffer = (await sounds.segment(k))[lane]!
    const { numberOfChannels } = buffer
    cut ??= new AudioBuffer({ length: Math.max(1, to - from), numberOfChannels, sampleRate })
    const at = Math.round(k * segmentSeconds * sampleRate) - from
    for (let channel = 0; channel < numberOfChannels; channel += 1) {
      const plane = buffer.getChannelData(channel).subarray(Math.max(0, -at))
      if (at < cut.length) cut.copyToChannel(plane, channel, Math.max(0, at))
    }
  }
  return cut!
}
