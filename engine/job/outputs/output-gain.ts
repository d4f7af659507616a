/** The gain that all outputs of a request share, so that none of them clips. */

/**
 * Returns the gain in decibels (two decimals, at most 0) that brings `peak`, the largest absolute
 * sample, to full scale; 0 if it does not exceed it.
 */
export const gainDbFor = (peak: number): number =>
  peak > 1 ? Math.floor(-2_000 * Math.log10(peak)) / 100 : 0

/** Converts a gain in decibels to a factor. */
export const factorOf = (gainDb: number): number => 10 ** (gainDb / 20)

/** Returns the largest absolute sample of planar samples, ignoring values that are not finite. */
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
