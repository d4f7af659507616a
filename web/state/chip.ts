/** Says in a few words what a model found out about a prompt. */

import type { Result } from '../../clients/typescript/client.ts'

export type Finding = NonNullable<Result['data']['findings']>[number]

/** Under this the sound is more surely absent than unsure. */
const ABSENT_MATCH_MAX = 0.2

const MATCHES: readonly [number, string][] = [
  [0.9, 'almost certainly there'],
  [0.7, 'very probably there'],
  [0.5, 'probably there'],
  [0.3, 'perhaps not there'],
  [ABSENT_MATCH_MAX, 'rather not there'],
  [0, 'probably not there'],
]

/** Such as `unsure, softer by 9 dB`. */
export function chipText({ state, match = 1, softened_db: softer = 0, holds }: Finding): string {
  if (state === 'found') return 'found'
  if (state === 'unknown') return `not known: this is ${holds ?? 'something else'}`
  const softened = softer > 0 ? `, softer by ${Math.round(softer)} dB` : ''
  return `${match < ABSENT_MATCH_MAX ? 'probably not there' : 'unsure'}${softened}`
}

/** The match, in words first, and what to do: in sentences. */
export function explain({
  state,
  match,
  softened_db: softer = 0,
  nearest = [],
}: Finding): string[] {
  if (state === 'unknown') {
    const names = nearest.map((name) => `“${name}”`).join(', ')
    return [`The model has no such sound.${names === '' ? '' : ` Try ${names}.`}`]
  }
  const words = MATCHES.find(([least]) => (match ?? 1) >= least)![1]
  const percent = match === undefined ? '' : `: match ${Math.round(100 * match)} %`
  const why = 'A model that is not sure makes a sound softer, so that errors are not loud.'
  return [`The sound is ${words}${percent}, where it is clearest.`, ...(softer > 0 ? [why] : [])]
}
