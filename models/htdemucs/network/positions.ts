/** Sinusoids that tell the transformer the position of a token. */

/** Returns [length, dim]: cosines, then sines (create_sin_embedding). */
export function positionsInTime(length: number, dim: number, maxPeriod: number): Float32Array {
  const half = dim / 2
  const table = new Float32Array(length * dim)
  for (let place = 0; place < length; place += 1) {
    for (let i = 0; i < half; i += 1) {
      const phase = place / maxPeriod ** (i / (half - 1))
      table[place * dim + i] = Math.cos(phase)
      table[place * dim + half + i] = Math.sin(phase)
    }
  }
  return table
}

/**
 * Returns [frames · bins, dim]: sines and cosines alternate, for the frame in the first half of the
 * channels and for the bin in the second (create_2d_sin_embedding).
 */
export function positionsInSpectrogram(
  frames: number,
  bins: number,
  dim: number,
  maxPeriod: number,
): Float32Array {
  const half = dim / 2
  const table = new Float32Array(frames * bins * dim)
  const rates = Array.from({ length: half / 2 }, (_, i) =>
    Math.exp((-2 * i * Math.log(maxPeriod)) / half),
  )
  for (let frame = 0; frame < frames; frame += 1) {
    for (let bin = 0; bin < bins; bin += 1) {
      const row = (frame * bins + bin) * dim
      for (const [i, rate] of rates.entries()) {
        table[row + 2 * i] = Math.sin(frame * rate)
        table[row + 2 * i + 1] = Math.cos(frame * rate)
        table[row + half + 2 * i] = Math.sin(bin * rate)
        table[row + half + 2 * i + 1] = Math.cos(bin * rate)
      }
    }
  }
  return table
}
