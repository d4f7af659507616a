/**
 * Decides whether a sound is in a file, from the tagger and from how its separation went in each
 * chunk.
 */

import type { TaggerAnswer } from '../../../models/tagger/decisions.ts'
import { probabilityOf, type TaggedSound } from './tagged-file.ts'

export interface Presence {
  state: TaggerAnswer['state']
  /** The probability that the sound is in the file. */
  match: number
}

/**
 * @param matches of the chunks; empty if the model reports none
 * @param tagged null if the tagger does not know the sound
 * @returns null if nothing is known
 */
export function presenceOf(
  matches: readonly number[],
  tagged: TaggedSound | null,
): Presence | null {
  if (tagged && matches.length > 0) return combineEvidence(matches, tagged)
  if (tagged) return { state: tagged.state, match: tagged.probability }
  if (matches.length === 0) return null
  const match = probabilityOf(matchEvidence(matches))
  return { state: match < 0.5 ? 'unsure' : 'found', match }
}

/** Combines both as fitted; see the card of the tagger. */
function combineEvidence(
  matches: readonly number[],
  { combined: rule, evidence, relative }: TaggedSound,
): Presence {
  const matched = matchEvidence(matches, rule.matchSharpness)
  const logit = rule.tagger * evidence + rule.match * matched + rule.offset
  const match = probabilityOf(logit)
  if (logit >= rule.found) return { state: 'found', match }
  if (logit < rule.absent) return { state: 'absent', match }
  return { state: relative === null ? 'unsure' : 'similar', match }
}

/** No file or chunk is more certain than this logit either way, which keeps the logits finite. */
const LOGIT_MOST = 8
const CHUNK_LOGIT_MOST = 30

/**
 * The logarithm of the power mean of the chunks' odds. Unlike a maximum, it does not grow with the
 * length of the file.
 * @param sharpness the exponent; the higher, the closer to the maximum
 */
export function matchEvidence(matches: readonly number[], sharpness = 1): number {
  const sum = matches.reduce((total, match) => {
    const logit = within(CHUNK_LOGIT_MOST, Math.log(match) - Math.log1p(-match))
    return total + Math.exp(sharpness * logit)
  }, 0)
  return within(LOGIT_MOST, Math.log(sum / matches.length) / sharpness)
}

const within = (most: number, logit: number): number => Math.min(most, Math.max(-most, logit))
