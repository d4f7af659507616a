/** Weights of a chunk where it overlaps its neighbours. */

/** Rises over the first half of a segment and falls over the second; at most 1. */
export function triangle(samples: number): Float32Array {
  const half = Math.floor(samples / 2)
  const peak = samples - half
  return Float32Array.from({ length: samples }, (_, i) => (i < half ? i + 1 : samples - i) / peak)
}
