/** The service's peaks, as wavesurfer.js draws them. */

import type { Waveform } from '../../clients/typescript/client.ts'

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
