/** Describes in a sentence what a model found out about a prompt. */

import type { Finding } from './finding.ts'
import { languageNames, type PromptedSound } from './prompts/read-prompt.ts'

/** Returns a sentence or two; null if the model reports nothing about it. */
export function findingText(prompt: string, finding: Finding): string | null {
  const text = textOf(prompt, finding)
  if (text === null || finding.same_as === undefined) return text
  return `${text} It is read as the same sound as "${finding.same_as}", and shares its output.`
}

function textOf(prompt: string, finding: Finding): string | null {
  const { state, match, understood_as: name, softened_db: softenedDb = 0, asked = [] } = finding
  if (state === undefined) return null
  if (asked.length > 1 || asked[0]?.excluded) return textOfSeveral(asked, finding)
  const quoted = `"${prompt}"`
  if (state === 'unknown') {
    const { holds, nearest = [] } = finding
    const instead = holds === undefined ? '' : `: its target holds ${holds} instead`
    return `The model does not know ${quoted}${instead}.${hintOf(nearest)}`
  }
  const isOther = name && name !== prompt.trim().toLowerCase()
  const taken = isOther ? `, taken for "${name}",` : ''
  const percent = match === undefined ? '' : ` (match ${Math.round(100 * match)} %)`
  if (state === 'found') return `${quoted}${taken} was found${percent}.`
  if (state === 'absent' || state === 'similar') return textOfMissing(prompt, finding)
  const softer = softenedDb > 0 ? `: its target is up to ${softenedDb} dB softer` : ''
  return `${quoted}${taken} may be absent${percent}${softer}.`
}

/** Describes the finding for a prompt that names one sound. */
function textOfMissing(prompt: string, finding: Finding): string {
  const { understood_as: name, asked = [], similar_to: similarTo, softened_db: softer } = finding
  const sound = name ?? asked[0]?.sound ?? prompt
  const instead = similarTo ? withArticle(similarTo) : 'another'
  const what =
    finding.state === 'absent'
      ? `No ${sound} ${isPlural(sound) ? 'were' : 'was'} heard`
      : `There is a sound like ${withArticle(sound)}: ${instead}`
  const soft = softer ? `, up to ${softer} dB softer` : ''
  return `${what}. The file holds what comes nearest${soft}.`
}

/** Suggests names for an unknown prompt. */
function hintOf(nearest: readonly string[]): string {
  const names = nearest.map((text) => `"${text}"`).join(', ')
  const hint = names === '' ? '' : ` The nearest names to try: ${names}.`
  return `${hint} Prompts are read in ${listText(languageNames())}.`
}

type AskedSounds = NonNullable<Finding['asked']>

/**
 * Describes the finding for a prompt with several sounds: how it was read, and which of its sounds
 * were found.
 */
function textOfSeveral(asked: AskedSounds, finding: Finding): string {
  const { match, softened_db: softenedDb = 0, holds, nearest = [], state } = finding
  const inState = (soundState: Finding['state']) =>
    asked.filter((sound) => sound.state === soundState)
  const [found, unsure, unknown] = [inState('found'), inState('unsure'), inState('unknown')]
  const [absent, similar] = [inState('absent'), inState('similar')]
  const isOne = found.length + unsure.length + absent.length + similar.length === 1
  const percent = match !== undefined && isOne ? ` (match ${Math.round(100 * match)} %)` : ''
  const parts = [
    ...(found.length > 0 ? [`${soundsIn(found)} ${areMany(found) ? 'were' : 'was'} found`] : []),
    ...(unsure.length > 0 ? [`${soundsIn(unsure)} may be absent`] : []),
    ...similar.map(
      ({ sound, similar_to: other }) =>
        `what sounds like ${withArticle(sound)} is ${other ? withArticle(other) : 'another sound'}`,
    ),
    ...(absent.length > 0
      ? [`${soundsIn(absent)} ${areMany(absent) ? 'were' : 'was'} not heard`]
      : []),
  ]
  const facts = parts.length > 0 ? [`${readAs(asked)}; ${parts.join(', but ')}${percent}`] : []
  const softer = softenedDb > 0 ? [`The target is up to ${softenedDb} dB softer`] : []
  const names = unknown.map(({ sound }) => `"${sound}"`)
  const lost = names.length > 0 ? [`The model does not know ${listText(names)}`] : []
  const instead = holds === undefined ? [] : [`The target holds ${holds}`]
  const text = [...facts, ...softer, ...lost, ...instead]
    .map((sentence) => `${sentence}.`)
    .join(' ')
  return state === 'unknown' ? `${text}${hintOf(nearest)}` : text
}

/** Returns for example `Everything but the drums`. */
export function readAs(asked: readonly PromptedSound[]): string {
  const wanted = soundsIn(asked.filter(({ excluded }) => !excluded))
  const unwanted = soundsIn(asked.filter(({ excluded }) => excluded))
  if (wanted === '') return `Everything but ${unwanted}`
  const text = wanted[0]!.toUpperCase() + wanted.slice(1)
  return unwanted === '' ? text : `${text} without ${unwanted}`
}

const soundsIn = (asked: readonly PromptedSound[]): string =>
  listText(asked.map(({ sound }) => `the ${sound}`))

const isPlural = (sound: string): boolean => /[^s]s$/.test(sound)

const areMany = (asked: readonly PromptedSound[]): boolean =>
  asked.length > 1 || isPlural(asked[0]?.sound ?? '')

/** Sounds that take no article, besides plurals and activities such as "typing". */
const UNCOUNTED = new Set(
  (
    'rain, fire, thunder, wind, noise, water, speech, music, brass, woodwind, applause, ' +
    'laughter, hissing air, adhesive tape, morse code, white noise, bass, timpani'
  ).split(', '),
)

/** Returns for example `a cello`, `an oboe`, `the sea` or `rain`. */
function withArticle(sound: string): string {
  if (sound === 'sea') return 'the sea'
  if (UNCOUNTED.has(sound) || isPlural(sound) || sound.endsWith('ing')) return sound
  return `${/^[aeiou]/.test(sound) ? 'an' : 'a'} ${sound}`
}

/** Joins names as in `a, b and c`. */
const listText = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`
