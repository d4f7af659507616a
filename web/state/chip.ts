/** Summarises in a few words what is known about a prompt. */

import type { Result, SoundsResult } from '../../clients/typescript/client.ts'
import { timeText } from '../../shared/time-text.ts'

export type Finding = NonNullable<Result['data']['findings']>[number]

/** An entry in the list of sounds in the media. */
export type HeardSound = SoundsResult['data']['sounds'][number]

/** The states in words, except for `unknown`. */
const STATES = {
  found: 'found',
  similar: 'only similar',
  unsure: 'unsure',
  absent: 'probably not there',
} as const

/** For example `unsure, softer by 9 dB`. */
export function chipText(finding: Finding): string {
  const { state, softened_db: softer = 0, holds, similar_to: similar } = finding
  if (state === 'unknown') return `not known: this is ${holds ?? 'something else'}`
  return [
    STATES[state],
    ...(similar === undefined ? [] : [`like ${similar}`]),
    ...(softer > 0 ? [`softer by ${Math.round(softer)} dB`] : []),
  ].join(', ')
}

/** Explains the match, where the sound is, and what to do, in sentences. */
export function explain(finding: Finding): string[] {
  const { state, match, softened_db: softer = 0, nearest = [], similar_to: similar } = finding
  if (state === 'unknown') {
    const names = nearest.map((name) => `“${name}”`).join(', ')
    return [`The model has no such sound.${names === '' ? '' : ` Try ${names}.`}`, LISTEN]
  }
  const where = whereText(finding)
  const { quality } = finding
  return [
    ...(match === undefined ? [] : [`It is there by ${Math.round(100 * match)} % probability.`]),
    ...(where === '' ? [] : [`It sounds at ${where}.`]),
    ...(similar === undefined ? [] : [`A sound like it is there: ${similar}.`]),
    ...(quality === undefined ? [] : [QUALITIES[quality]]),
    ...(softer > 0 ? [WHY_SOFTER] : []),
    ...(state === 'found' && quality !== 'poor' ? [] : [LISTEN]),
  ]
}

/** Judged by the masks that made the target; whether the sound is present is another question. */
const QUALITIES = {
  good: 'What the target holds is probably clean.',
  fair: 'What the target holds has probably some of other sounds.',
  poor: 'What the target holds has probably much of other sounds, or lacks much of its own.',
} as const

const WHY_SOFTER = 'A model that is not sure makes a sound softer, so that errors are not loud.'
const LISTEN = 'Listen before you use it.'

/** How many spans are listed; there may be a hundred. */
const SPANS_SHOWN_MAX = 3

/** For example `0:03–0:07, 12 % of the file`; empty if unknown. */
export function whereText({ where = [], share }: Pick<Finding, 'where' | 'share'>): string {
  if (where.length === 0) return ''
  const spans = where
    .slice(0, SPANS_SHOWN_MAX)
    .map(({ start, end }) => `${timeText(start)}–${timeText(end)}`)
  const more = where.length - spans.length
  return [
    ...spans,
    ...(more > 0 ? [`${more} more`] : []),
    ...(share === undefined ? [] : [`${shareText(share)} of the file`]),
  ].join(', ')
}

/** Where a listed sound is. */
export const whereOfHeard = ({ spans, share }: HeardSound): string =>
  whereText({ where: spans, share })

const shareText = (share: number): string =>
  share > 0 && share < 0.01 ? 'less than 1 %' : `${Math.round(100 * share)} %`
