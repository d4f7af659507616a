/** The null test: what is left of a mixture when its parts are subtracted from it. */

import { sum } from './decode.ts'
import { peakOf, toDb } from './levels.ts'

/** Peak of the mixture minus all parts, in dB of full scale; -Infinity: nothing is left. */
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
