/** The null test: what remains of a mixture when its parts are subtracted. */

import { sum } from './decode.ts'
import { peakOf, toDb } from './levels.ts'

/**
 * Returns the peak of the mixture minus all parts, in dB relative to full scale; -Infinity if
 * nothing remains.
 */
export async function nullTest(
  mixture: AudioBuffer,
  parts: readonly AudioBuffer[],
): Promise<number> {
  const rest = await sum([
    { buffer: mixture, gain: 1 },
    ...parts.map((buffer) => ({ buffer, gain: -1 })),
  ])
  return toDb(peakOf(rest))
}
