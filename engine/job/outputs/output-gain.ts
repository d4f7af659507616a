/** The gain that all outputs of a request share, so that none of them clips. */

/** Returns the gain in dB (two decimals) that brings `peak` to full scale; 0 if it is below. */
export const gainDbFor = (peak: number): number =>
  peak > 1 ? Math.floor(-2_000 * Math.log10(peak)) / 100 : 0

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
