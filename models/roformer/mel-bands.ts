/** Bands that are evenly spaced on Slaney's mel scale (librosa.filters.mel). */

/** Adjacent bins; bands may overlap. */
export interface Band {
  start: number
  bins: number
}

/** Linear up to 1 kHz, which is 15 mel; then 27 mel for each factor of 6.4. */
const HERTZ_PER_MEL = 200 / 3
const LOG_FROM_HERTZ = 1000
const LOG_FROM_MEL = LOG_FROM_HERTZ / HERTZ_PER_MEL
const LOG_STEP = Math.log(6.4) / 27

const melOf = (hertz: number): number =>
  hertz < LOG_FROM_HERTZ
    ? hertz / HERTZ_PER_MEL
    : LOG_FROM_MEL + Math.log(hertz / LOG_FROM_HERTZ) / LOG_STEP

const hertzOf = (mel: number): number =>
  mel < LOG_FROM_MEL
    ? mel * HERTZ_PER_MEL
    : LOG_FROM_HERTZ * Math.exp(LOG_STEP * (mel - LOG_FROM_MEL))

/**
 * Returns the bands, each with the bins within its triangle. The first starts at bin 0, and the
 * last ends at the highest bin.
 */
export function melBands(sampleRate: number, window: number, count: number): Band[] {
  const bins = window / 2 + 1
  const melMax = melOf(sampleRate / 2)
  const corners = Array.from({ length: count + 2 }, (_, i) => hertzOf((melMax * i) / (count + 1)))
  return Array.from({ length: count }, (_, band) => {
    const [low, centre, high] = corners.slice(band, band + 3) as [number, number, number]
    const isIn = (bin: number): boolean => {
      if ((band === 0 && bin === 0) || (band === count - 1 && bin === bins - 1)) return true
      const hertz = (bin * sampleRate) / window
      const weight = Math.min((hertz - low) / (centre - low), (high - hertz) / (high - centre))
      return Math.fround(weight) > 0
    }
    const inside = Array.from({ length: bins }, (_, bin) => bin).filter(isIn)
    return { start: inside[0]!, bins: inside.length }
  })
}
