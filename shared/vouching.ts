/**
 * Whoever knows that a sound is there may vouch for it, by a span. Decides of which sounds people
 * are asked, and what it does.
 */

import type { PreferredOutput } from './tasks.ts'

/** A finding as the API tells it, as far as it matters here. */
interface PromptFinding {
  prompt: string
  state: string
  softened_db?: number
  asked?: readonly { sound: string; excluded: boolean; state?: string }[]
  separator?: string
}

/** Another separation of the same media, with a span that vouches for its sounds. */
export interface VouchedSeparation {
  /** `take out`: of the rest, which people keep; `keep`: the target keeps its full level. */
  does: 'take out' | 'keep'
  /** The sounds that were not found. */
  sounds: readonly string[]
  /** The prompts to separate; spans are those of all prompts of a request. */
  prompts: readonly string[]
  /** The target is up to so much softer without it. */
  softenedDb: number
}

interface AnsweredRequest {
  findings: readonly PromptFinding[]
  prompts: readonly string[]
  keeps: PreferredOutput
  /** Whether a model of this name takes spans for more than where to be silent. */
  heedsSpans: (separator: string | undefined) => boolean
}

/**
 * The separations that are worth offering. Of a rest without several sounds it is one, which takes
 * out all of them; of targets one for each.
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
    const own = { prompts: [prompt], softenedDb }
    const excluded = missedExcluded(finding)
    if (excluded.length > 0) return [{ ...own, does: 'take out', sounds: excluded }]
    return softenedDb > 0 ? [{ ...own, does: 'keep', sounds: [prompt] }] : []
  })
}

/** A span changes nothing of what was found, nor of what no model knows. */
const SETTLED: readonly (string | undefined)[] = [undefined, 'found', 'unknown']

const missedExcluded = ({ asked = [] }: PromptFinding): string[] =>
  asked.flatMap(({ sound, excluded, state }) =>
    excluded && !SETTLED.includes(state) ? [sound] : [],
  )
