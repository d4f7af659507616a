/**
 * Decides from the words of a prompt which model answers it (docs/decisions/models.md). A prompt
 * that only names stems of a model goes to that model; any other goes to a model that answers text.
 * The prompt means the same to both.
 */

import { ServiceError } from '../errors.ts'
import type { Sound } from './phrase.ts'
import { readPrompt, type PromptReading } from './read-prompt.ts'

/** As a separator, means that the words of each prompt decide. */
export const AUTO = 'auto'

/** A model, as far as the router needs to know it. */
export interface RoutedModel {
  name: string
  answers: 'text' | 'stems'
  /** In the model's own names; empty for a model that answers text. */
  stems: readonly string[]
}

/** One question to a model. */
export interface Question {
  /** A sound, for a model that answers text; otherwise the name of the stems. */
  sound: string
  /** Stems that add up to the answer; empty for a model that answers text. */
  stems: readonly string[]
}

/** The model that answers a prompt, and what to ask it. */
export interface Route {
  model: string
  /** They add up to the target; if empty, the target is the mixture. */
  wanted: readonly Question[]
  /** Subtracted from that. */
  unwanted: readonly Question[]
  reading: PromptReading
}

/** Whether the target is the mixture without some sounds. */
export const isWithout = ({ wanted }: Pick<Route, 'wanted'>): boolean => wanted.length === 0

/**
 * Chooses one of `models`, which are in order of preference.
 * @param separator `auto`, or the name of the model that must answer
 * @throws ServiceError `INVALID_PARAMETER` naming the available models and stems
 */
export function routePrompt(
  prompt: string,
  models: readonly RoutedModel[],
  separator: string = AUTO,
): Route {
  const isAuto = separator === AUTO
  const candidates = isAuto ? models : models.filter(({ name }) => name === separator)
  if (candidates.length === 0) {
    const what = isAuto ? 'There is no model' : `There is no model "${separator}"`
    throw refusal(what, models)
  }
  const reading = readPrompt(prompt)
  const withStems = candidates.filter(({ answers }) => answers === 'stems')
  for (const otherIs of ['a stem', 'the instrumental'] as const) {
    for (const { name, stems } of withStems) {
      const questions = stemsFor(reading, stems, otherIs)
      if (questions) return { model: name, reading, ...questions }
    }
  }
  const text = candidates.find(({ answers }) => answers === 'text')
  if (text) return { model: text.name, reading, ...soundsOf(reading) }
  throw refusal(`"${prompt}" is not one of the stems that ${namesOf(candidates)} can give`, models)
}

const namesOf = (models: readonly RoutedModel[]): string =>
  models.map(({ name }) => name).join(', ')

function refusal(what: string, models: readonly RoutedModel[]): ServiceError {
  const descriptions = models.map(({ name, answers, stems }) =>
    answers === 'text' ? `${name} (any prompt)` : `${name} (${stems.join(', ')})`,
  )
  const there = descriptions.length === 0 ? '' : `; the models here are ${descriptions.join('; ')}`
  const message = `${what}${there}.`
  return new ServiceError('INVALID_PARAMETER', { message, param: 'input.separator' })
}

type Questions = Pick<Route, 'wanted' | 'unwanted'>

/** Returns one question for each sound, to a model that answers text. */
function soundsOf({ wanted, unwanted }: PromptReading): Questions {
  const asked = (sounds: readonly Sound[]) => sounds.map(({ name }) => ({ sound: name, stems: [] }))
  return { wanted: asked(wanted), unwanted: asked(unwanted) }
}

/** The parts of a mix that sounds belong to, if the names differ. */
const PART_OF: Readonly<Record<string, string>> = {
  singing: 'vocals',
  'drum kit': 'drums',
  'acoustic guitar': 'guitar',
  'electric guitar': 'guitar',
}

const partOf = ({ name }: Sound): string =>
  Object.hasOwn(PART_OF, name) ? PART_OF[name]! : name.toLowerCase()

const without = (part: string): string => `without ${part}`

/**
 * Returns the stems of a model that answer the prompt; null if the prompt asks for something else.
 * @param otherIs what "other" means to a model of vocals and other alone, where it is the
 *   instrumental. With `'a stem'` the model doesn't answer it, so that a model with drums, bass and
 *   other goes first; with `'the instrumental'` it does.
 */
function stemsFor(
  { wanted, unwanted }: PromptReading,
  stems: readonly string[],
  otherIs: 'a stem' | 'the instrumental',
): Questions | null {
  const stemOf = new Map<string, string>()
  for (const stem of stems) {
    const part = partCalled(stem)
    if (!stemOf.has(part)) stemOf.set(part, stem)
  }
  // In a model of vocals and other alone, "other" is the instrumental.
  const isHalf = [...stemOf.keys()].every((part) => part === 'vocals' || part === 'other')
  const [other, instrumental] = [stemOf.get('other'), without('vocals')]
  if (isHalf && other !== undefined) {
    if (!stemOf.has(instrumental)) stemOf.set(instrumental, other)
    if (otherIs === 'a stem') stemOf.delete('other')
  }
  const [all, none] = [wanted, unwanted].map((sounds) => [...new Set(sounds.map(partOf))])
  const ask = (parts: readonly string[]) => questionOf(parts, stemOf)
  if (all!.length > 0 && none!.length > 0) return null
  const list = all!.length > 0 ? all! : none!
  const isWanted = all!.length > 0
  const same = ask(list)
  if (same) return isWanted ? { wanted: same, unwanted: [] } : { wanted: [], unwanted: same }
  const opposite = list.length === 1 ? ask([without(list[0]!)]) : null
  if (!opposite) return null
  return isWanted ? { wanted: [], unwanted: opposite } : { wanted: opposite, unwanted: [] }
}

/**
 * Returns one question for the sum of all parts, in the model's order; null if the model lacks one.
 */
function questionOf(
  parts: readonly string[],
  stemOf: ReadonlyMap<string, string>,
): Question[] | null {
  const matches = [...stemOf].filter(([part]) => parts.includes(part))
  if (matches.length < parts.length) return null
  return [{ sound: parts.join(' and '), stems: matches.map(([, stem]) => stem) }]
}

/** Returns the part that a model calls `stem`. */
function partCalled(stem: string): string {
  const { wanted, unwanted } = readPrompt(stem.replaceAll('_', ' '))
  if (wanted.length === 1) return partOf(wanted[0]!)
  if (unwanted.length === 1) return without(partOf(unwanted[0]!))
  return stem.toLowerCase()
}
