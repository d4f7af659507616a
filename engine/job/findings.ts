/** Sums up what a model found out about a prompt in each chunk. */

import { NEAREST_MAX, type Finding } from '../../shared/messages.ts'
import type { Found } from '../../models/model.ts'

/** 100 dB: what is softer is silence. */
const GAIN_LEAST = 1e-5

/** Under this it is more probable that the sound is not there. */
export const MATCH_LEAST = 0.5

/**
 * The match is that of the chunk where it is highest. A model without matches gives no state,
 * unless it does not know the prompt.
 */
export function findingOf(work: readonly Found[]): Finding {
  const { understoodAs, meanings, substitute, nearest = [] } = work[0] ?? {}
  const matches = work.flatMap(({ match }) => match ?? [])
  const match = matches.length > 0 ? Math.max(...matches) : undefined
  const recognised = {
    ...(match !== undefined && { match }),
    ...(understoodAs !== undefined && { understood_as: understoodAs }),
  }
  const softened_db = Math.round(10 * softenedDb(work)) / 10
  if (understoodAs === null) {
    const holds = substitute ?? meanings?.[0]?.name
    return {
      ...recognised,
      state: 'unknown',
      softened_db,
      ...(holds !== undefined && { holds }),
      nearest: nearest.slice(0, NEAREST_MAX),
    }
  }
  if (match === undefined) return recognised
  if (match < MATCH_LEAST) return { ...recognised, state: 'unsure', softened_db }
  return { ...recognised, state: 'found' }
}

/** In dB: how much softer a target is where its sound seems absent, at the most. */
export function softenedDb(work: readonly Pick<Found, 'presenceGain'>[]): number {
  const softest = Math.min(1, ...work.map(({ presenceGain = 1 }) => presenceGain))
  return softest < 1 ? -20 * Math.log10(Math.max(GAIN_LEAST, softest)) : 0
}
