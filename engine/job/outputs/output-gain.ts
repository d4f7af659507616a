/** The gain that all outputs of a request have in common, so that none of them clips. */

/**
 * Decibels, of two decimals and at most 0, that bring the greatest absolute sample to full scale:
 * 0 where none is beyond it.
 */
export const gainDbFor = (peak: number): number =>
  peak > 1 ? Math.floor(-2_000 * Math.log10(peak)) / 100 : 0

/** A gain in decibels as a factor. */
export const factorOf = (gainDb: number): number => 10 ** (gainDb / 20)

/** The greatest absolute sample of planar samples; what is no finite number does not count. */
export function peakOf(planes: readonly Float32Array[]): number {
  let peak = 0
  for (const plane of planes) {
    for (let i = 0; i < plane.length; i += 1) {
      const size = Math.abs(plane[i]!)
      if (size > peak && size < Infinity) peak = size
    }
  }
  return peak
}
