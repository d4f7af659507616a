/** Weights with which overlapping chunks are joined. */

/** Rises over the first half of a segment and falls over the second; at most 1. */
export function triangle(samples: number): Float32Array {
  const half = Math.floor(samples / 2)
  const peak = samples - half
  return Float32Array.from({ length: samples }, (_, i) => (i < half ? i + 1 : samples - i) / peak)
}

/** The fraction of a chunk over which its weights rise and fall, as in `demix` of the reference. */
const FADE_SHARE = 10

/** Weights stay above 0, because only one chunk covers the first and the last sample of a song. */
const WEIGHT_MIN = 1e-4

export const fadeSamples = (samples: number): number => Math.floor(samples / FADE_SHARE)

/** Returns ones that fade in at the start and out at the end, as the reference joins chunks. */
export function fades(samples: number): Float32Array {
  const last = fadeSamples(samples) - 1
  return Float32Array.from({ length: samples }, (_, i) =>
    Math.max(WEIGHT_MIN, Math.min(1, i / last, (samples - 1 - i) / last)),
  )
}
