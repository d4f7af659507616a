/** Weights of the samples of a chunk that overlaps its neighbours. */

/** Rises over the first half of a segment and falls over the second; at most 1. */
export function triangle(samples: number): Float32Array {
  const half = Math.floor(samples / 2)
  const peak = samples - half
  return Float32Array.from({ length: samples }, (_, i) => (i < half ? i + 1 : samples - i) / peak)
}

/** The part of a chunk over which its weights rise and fall: as `demix` of the reference has it. */
const FADE_SHARE = 10

/** Weights are above 0: the first and the last sample of a song are in one chunk alone. */
const WEIGHT_MIN = 1e-4

export const fadeSamples = (samples: number): number => Math.floor(samples / FADE_SHARE)

/** Ones, with a rise at the start and a fall at the end, as the reference joins chunks. */
export function fades(samples: number): Float32Array {
  const last = fadeSamples(samples) - 1
  return Float32Array.from({ length: samples }, (_, i) =>
    Math.max(WEIGHT_MIN, Math.min(1, i / last, (samples - 1 - i) / last)),
  )
}
