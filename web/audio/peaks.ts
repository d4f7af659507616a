/** Peaks as wavesurfer.js draws them, of the service or of a decoded buffer. */

import type { Waveform } from '../../clients/typescript/client.ts'
import { planesOf as samplesOf } from './decode.ts'

/** Samples of a peak: finer than a pixel at the largest zoom. */
const PEAK_SAMPLES = 8

/** The least and greatest samples of each channel in turn, from -1 to 1. */
export function planesOf({ channels, length, data }: Waveform): Float32Array[] {
  return Array.from({ length: channels }, (_, channel) => {
    const plane = new Float32Array(2 * length)
    for (let bucket = 0; bucket < length; bucket += 1) {
      const at = 2 * (bucket * channels + channel)
      plane[2 * bucket] = data[at]! / 127
      plane[2 * bucket + 1] = data[at + 1]! / 127
    }
    return plane
  })
}

/**
 * The largest magnitude of every few samples, channel by channel. A waveform can't keep the samples
 * themselves: Firefox detaches them from the page when the buffer plays, as the standard has it.
 */
export const magnitudesOf = (buffer: AudioBuffer): Float32Array[] =>
  samplesOf(buffer).map((plane) => {
    const peaks = new Float32Array(Math.ceil(plane.length / PEAK_SAMPLES))
    for (let i = 0; i < plane.length; i += 1) {
      const at = Math.floor(i / PEAK_SAMPLES)
      const magnitude = Math.abs(plane[i]!)
      if (magnitude > peaks[at]!) peaks[at] = magnitude
    }
    return peaks
  })
