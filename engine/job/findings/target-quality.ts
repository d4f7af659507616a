/**
 * How well a target is separated, judged by the masks that made it (`mini-quality` of the training:
 * on held-out mixtures of two sounds its correlation with SI-SDR is 0.86).
 */

import type { ChunkFinding } from '../../../models/model.ts'
import type { Quality } from '../../../shared/finding.ts'

/** dB of the sound over all else in its target, as its masks expect it. */
const GOOD_FROM_DB = 12
const FAIR_FROM_DB = 6

/**
 * @param work of all sounds that are wanted, in each chunk
 * @returns undefined where the model has no estimate, or there is silence
 */
export function qualityOf(work: readonly Pick<ChunkFinding, 'expected'>[]): Quality | undefined {
  const sums = work.reduce(
    (sum, { expected: { sound, others } = { sound: NaN, others: NaN } }) => ({
      sound: sum.sound + sound,
      others: sum.others + others,
    }),
    { sound: 0, others: 0 },
  )
  if (!(sums.sound > 0)) return undefined
  const expectedDb = 10 * Math.log10(sums.sound / sums.others)
  if (expectedDb >= GOOD_FROM_DB) return 'good'
  return expectedDb >= FAIR_FROM_DB ? 'fair' : 'poor'
}
