/** Peaks in the form that wavesurfer.js draws, from the service or from a decoded buffer. */

import type { Waveform } from '../../clients/typescript/client.ts'
import { planesOf } from './decode.ts'

/** How many samples share a peak, which is finer than a pixel at the largest zoom. */
const PEAK_SAMPLES = 8

/** Alternates the minimum and maximum of each bucket, for each channel, from -1 to 1. */
export function planesOfWaveform({ channels, length, data }: Waveform): Float32Array[] {
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
 * Returns the largest magnitude of every few samples, for each channel. A waveform cannot keep the
 * samples themselves, because Firefox detaches them from the page when the buffer is played, as the
 * standard requires.
 */
export const magnitudesOf = (buffer: AudioBuffer): Float32Array[] =>
  planesOf(buffer).map((plane) => {
    const peaks = new Float32Array(Math.ceil(plane.length / PEAK_SAMPLES))
    for (let i = 0; i < plane.length; i += 1) {
      const at = Math.floor(i / PEAK_SAMPLES)
      const magnitude = Math.abs(plane[i]!)
      if (magnitude > peaks[at]!) peaks[at] = magnitude
    }
    return peaks
  })
