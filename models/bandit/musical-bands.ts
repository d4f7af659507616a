/** Bands of equal width in notes, each of which overlaps its neighbours. */
import type { Band } from '../layers/band-join.ts'

const noteOf = (hertz: number): number => 69 + 12 * Math.log2(hertz / 440)
const hertzOf = (note: number): number => 440 * 2 ** ((note - 69) / 12)

/**
 * A band reaches from its centre as far up and down as a part of the whole range is wide; centres
 * are evenly spaced in notes, from the first bin above 0 Hz to the last. The first band begins at
 * bin 0.
 */
export function musicalBands(sampleRate: number, window: number, count: number): Band[] {
  const bins = window / 2 + 1
  const spacing = sampleRate / window // hertz between bins
  const [lowest, highest] = [spacing, sampleRate / 2]
  const reach = (highest / lowest) ** (1 / count)
  const [first, last] = [Math.max(0, noteOf(lowest)), noteOf(highest)]
  return Array.from({ length: count }, (_, band) => {
    const centre = hertzOf(first + ((last - first) * band) / (count - 1))
    const start = band === 0 ? 0 : Math.floor(centre / reach / spacing)
    const end =
      band === count - 1 ? bins : Math.min(bins, Math.ceil((centre * reach) / spacing) + 1)
    return { start, bins: end - start }
  })
}
