/**
 * Someone who knows that a sound is there can vouch for it with a span. Decides about which sounds
 * to ask, and what the span does.
 */

import type { PreferredOutput } from './tasks.ts'

/** A finding as returned by the API, as far as needed here. */
interface PromptFinding {
  prompt: string
  state: string
  softened_db?: number
  asked?: readonly { sound: string; excluded: boolean; state?: string }[]
  separator?: string
}

/** Another separation of the same media, with a span that vouches for its sounds. */
export interface VouchedSeparation {
  /**
   * `take out` removes the sounds from the rest, which people keep; `keep` leaves the target at its
   * full level.
   */
  does: 'take out' | 'keep'
  /** The sounds that were not found. */
  sounds: readonly string[]
  /** The prompts to separate; spans apply to all prompts of a request. */
  prompts: readonly string[]
  /** By how many decibels at most the target is softer without it. */
  softenedDb: number
}

interface AnsweredRequest {
  findings: readonly PromptFinding[]
  prompts: readonly string[]
  keeps: PreferredOutput
  /** Whether a model of this name uses spans for more than where to be silent. */
  heedsSpans: (separator: string | undefined) => boolean
}

/**
 * Returns the separations that are worth offering: for a rest without several sounds a single one,
 * which removes all of them; otherwise one for each target.
 */
export function vouchingsOf({
  findings,
  prompts,
  keeps,
  heedsSpans,
}: AnsweredRequest): VouchedSeparation[] {
  const missed = findings.filter(
    ({ state, separator }) => !SETTLED.includes(state) && heedsSpans(separator),
  )
  if (keeps === 'residual') {
    const sounds = missed.map(({ prompt }) => prompt)
    return sounds.length === 0 ? [] : [{ does: 'take out', sounds, prompts, softenedDb: 0 }]
  }
  return missed.flatMap((finding): VouchedSeparation[] => {
    const { prompt, softened_db: softenedDb = 0 } = finding
    const separation = { prompts: [prompt], softenedDb }
    const excluded = missedExcluded(finding)
    if (excluded.length > 0) return [{ ...separation, does: 'take out', sounds: excluded }]
    return softenedDb > 0 ? [{ ...separation, does: 'keep', sounds: [prompt] }] : []
  })
}

/** A span does not change what was found, or what no model knows. */
const SETTLED: readonly (string | undefined)[] = [undefined, 'found', 'unknown']

const missedExcluded = ({ asked = [] }: PromptFinding): string[] =>
  asked.flatMap(({ sound, excluded, state }) =>
    excluded && !SETTLED.includes(state) ? [sound] : [],
  )
