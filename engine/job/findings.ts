/** Sums up what a model found out about a prompt in each chunk. */

import { NEAREST_MAX, type Finding } from '../../shared/finding.ts'
import type { Asked } from '../../shared/prompts/read-prompt.ts'
import type { Found } from '../../models/model.ts'
import { countedSounds } from './mix-plan.ts'

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

/** A sound of a prompt, and what was found out about it. */
export interface FoundSound {
  prompt: string
  isUnwanted: boolean
  work: readonly Found[]
}

/** From the least sure one on. */
const STATES = ['unknown', 'unsure', 'found'] as const

/** The finding about a prompt is that about its sounds: the least sure of them decides. */
export function promptFinding(sounds: readonly FoundSound[], asked: readonly Asked[]): Finding {
  const findings = sounds.map(({ work }) => findingOf(work))
  const stateOf = ({ sound, excluded }: Asked) =>
    findings[sounds.findIndex((one) => one.prompt === sound && one.isUnwanted === excluded)]?.state
  const read = asked.map((one) => {
    const state = stateOf(one)
    return { ...one, ...(state !== undefined && { state }) }
  })
  const isPlain = sounds.length === 1 && !sounds[0]!.isUnwanted
  return { ...(isPlain ? findings[0]! : joined(sounds, findings)), asked: read }
}

function joined(sounds: readonly FoundSound[], findings: readonly Finding[]): Finding {
  const state = STATES.find((each) => findings.some((finding) => finding.state === each))
  const matches = findings.flatMap(({ match }) => match ?? [])
  const names = findings.flatMap(({ understood_as: name }) => (name === undefined ? [] : [name]))
  const softened = Math.max(0, ...findings.map(({ softened_db: db = 0 }) => db))
  const isUnknown = state === 'unknown'
  const nearest = findings.find((finding) => finding.state === 'unknown')?.nearest ?? []
  return {
    ...(matches.length > 0 && { match: Math.min(...matches) }),
    ...(names.length > 0 && {
      understood_as: names.includes(null) ? null : [...new Set(names)].join(' and '),
    }),
    ...(state !== undefined && { state }),
    ...(state !== undefined && state !== 'found' && { softened_db: softened }),
    ...(isUnknown && { holds: heldBy(sounds, findings), nearest: [...nearest] }),
  }
}

/** Names the sounds in the target that the model knows. */
function heldBy(sounds: readonly FoundSound[], findings: readonly Finding[]): string {
  const counted = countedSounds(
    sounds.map(({ isUnwanted, work }) => ({ isUnwanted, understoodAs: work[0]?.understoodAs })),
  )
  const namesOf = (isUnwanted: boolean) =>
    sounds
      .flatMap((sound, i) =>
        counted[i] && sound.isUnwanted === isUnwanted ? (findings[i]!.holds ?? sound.prompt) : [],
      )
      .join(' and ')
  const [wanted, unwanted] = [namesOf(false), namesOf(true)]
  if (wanted !== '') return unwanted === '' ? wanted : `${wanted} without ${unwanted}`
  return unwanted === '' ? 'everything' : `everything but ${unwanted}`
}
