/**
 * Summarises what the model found out about a prompt in each chunk, and the tagger in the whole
 * file.
 */

import { NEAREST_MAX, type Finding } from '../../../shared/finding.ts'
import type { PromptedSound } from '../../../shared/prompts/read-prompt.ts'
import type { ChunkFinding } from '../../../models/model.ts'
import { countedSounds } from '../outputs/mix-plan.ts'
import { matchEvidence, presenceOf } from './presence.ts'
import { fewSpans, mergeSpans, probabilityOf, type TaggedSound } from './tagged-file.ts'
import { qualityOf } from './target-quality.ts'

/** -100 dB; anything softer is silence. */
const GAIN_MIN = 1e-5

/** A sound of a prompt, and what was found out about it. */
export interface SoundEvidence {
  prompt: string
  isUnwanted: boolean
  /** From the model, for each chunk. */
  work: readonly ChunkFinding[]
  /** From the tagger; null if it does not know the sound. */
  tagged: TaggedSound | null
}

/** Returns no state if neither model nor tagger reports anything, unless the prompt is unknown. */
export function findingOf({ work, tagged }: Pick<SoundEvidence, 'work' | 'tagged'>): Finding {
  const { understoodAs, meanings, substitute, nearest = [] } = work[0] ?? {}
  const name = { ...(understoodAs !== undefined && { understood_as: understoodAs }) }
  const softened_db = Math.round(10 * softenedDb(work)) / 10
  const matches = work.flatMap(({ match }) => match ?? [])
  if (understoodAs === null) {
    const holds = substitute ?? meanings?.[0]?.name
    return {
      ...(matches.length > 0 && { match: probabilityOf(matchEvidence(matches)) }),
      ...name,
      state: 'unknown',
      softened_db,
      ...(holds !== undefined && { holds }),
      nearest: nearest.slice(0, NEAREST_MAX),
    }
  }
  const presence = presenceOf(matches, tagged)
  if (!presence) return name
  const { state, match } = presence
  const common = { match, ...name, state }
  if (state === 'found') {
    return { ...common, ...(tagged && { where: tagged.spans, share: tagged.share }) }
  }
  const similar = state === 'similar' && { similar_to: tagged!.relative! }
  return { ...common, softened_db, ...similar }
}

/** Returns by how many dB a target was softened at most, because its sound seems absent. */
export function softenedDb(work: readonly Pick<ChunkFinding, 'presenceGain'>[]): number {
  const softest = Math.min(1, ...work.map(({ presenceGain = 1 }) => presenceGain))
  return softest < 1 ? -20 * Math.log10(Math.max(GAIN_MIN, softest)) : 0
}

/** From the least certain to the most certain. */
const STATES = ['unknown', 'absent', 'similar', 'unsure', 'found'] as const

/** Combines the findings about the sounds of a prompt; the least certain one decides. */
export function promptFinding(
  sounds: readonly SoundEvidence[],
  asked: readonly PromptedSound[],
): Finding {
  const findings = sounds.map(findingOf)
  const findingAbout = ({ sound, excluded }: PromptedSound) =>
    findings[
      sounds.findIndex(({ prompt, isUnwanted }) => prompt === sound && isUnwanted === excluded)
    ]
  const askedSounds = asked.map((sound) => {
    const { state, similar_to: similarTo } = findingAbout(sound) ?? {}
    return {
      ...sound,
      ...(state !== undefined && { state }),
      ...(similarTo !== undefined && { similar_to: similarTo }),
    }
  })
  const isPlain = sounds.length === 1 && !sounds[0]!.isUnwanted
  const finding = isPlain ? findings[0]! : joinFindings(sounds, findings)
  return { ...finding, ...qualityFor(sounds, finding), asked: askedSounds }
}

/**
 * Estimates the quality only where the target may hold the sound. Nobody can judge a sound that is
 * absent or unknown, or the rest that a prompt asks for.
 */
function qualityFor(
  sounds: readonly SoundEvidence[],
  { state }: Finding,
): Pick<Finding, 'quality'> | null {
  const mayBeThere = state === 'found' || state === 'similar' || state === 'unsure'
  if (!mayBeThere || sounds.some(({ isUnwanted }) => isUnwanted)) return null
  const quality = qualityOf(sounds.flatMap(({ work }) => work))
  return quality === undefined ? null : { quality }
}

function joinFindings(sounds: readonly SoundEvidence[], findings: readonly Finding[]): Finding {
  const state = STATES.find((candidate) => findings.some((finding) => finding.state === candidate))
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
    ...(state === 'similar' && findings.length === 1 && { similar_to: findings[0]!.similar_to! }),
    ...(state === 'found' && whereOf(sounds)),
    ...(isUnknown && { holds: knownSoundsIn(sounds, findings), nearest: [...nearest] }),
  }
}

/** Says where any of the wanted sounds is; if the prompt only excludes sounds, where those are. */
function whereOf(sounds: readonly SoundEvidence[]): Pick<Finding, 'where' | 'share'> {
  const isRest = sounds.every(({ isUnwanted }) => isUnwanted)
  const tags = sounds.flatMap(({ tagged, isUnwanted }) =>
    tagged && isUnwanted === isRest ? [tagged] : [],
  )
  if (tags.length === 0) return {}
  const where = mergeSpans(tags.flatMap(({ spans }) => spans))
  const covered = where.reduce((sum, { start, end }) => sum + end - start, 0)
  return { where: fewSpans(where), share: Math.min(1, covered / tags[0]!.seconds) }
}

/** Names the sounds in the target that the model knows. */
function knownSoundsIn(sounds: readonly SoundEvidence[], findings: readonly Finding[]): string {
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
