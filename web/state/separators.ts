/** The models that the service has, and which of them answers a prompt. */

import { signal } from '@preact/signals'
import type { ModelList } from '../../clients/typescript/client.ts'
import type { PromptReading } from '../../shared/prompts/read-prompt.ts'
import { AUTO, routePrompt, type Question } from '../../shared/prompts/route-prompt.ts'
import { isSongHintFor } from '../../shared/prompts/song-hint.ts'
import { namesOf } from '../../shared/tasks.ts'
import { currentClient, messageOf } from './credential.ts'

export type Separator = NonNullable<ModelList['data'][number]['separators']>[number]

/** In order of preference; none while no engine is there, or the service does not list them. */
export const separators = signal<readonly Separator[]>([])
/** Why they are not known. */
export const separatorsProblem = signal('')

export async function loadSeparators(): Promise<void> {
  try {
    const { data } = await currentClient().models()
    separators.value = data[0]?.separators ?? []
    separatorsProblem.value = ''
  } catch (error) {
    separatorsProblem.value = messageOf(error)
  }
}

/** Names the model that answers a prompt, or why none does. */
export function answerTo(prompt: string, separator?: string): string {
  try {
    const { model, wanted, unwanted, reading } = routePrompt(prompt, separators.value, separator)
    const answer = `${model} answers “${prompt}”`
    if (reading.isPlain && wanted.length === 1 && wanted[0]!.stems.length === 0) {
      return `${answer}${doubtOf(reading, model)}`
    }
    const namesOf = (questions: readonly Question[]) =>
      questions.flatMap(({ sound, stems }) => (stems.length > 0 ? stems : [sound])).join(' and ')
    if (wanted.length === 0) return `${answer}: all but ${namesOf(unwanted)}`
    const less = unwanted.length > 0 ? ` without ${namesOf(unwanted)}` : ''
    return `${answer}: ${namesOf(wanted)}${less}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Returns whether a better model for songs is worth a hint; where one was chosen, it is not. */
export function isSongHintDue(prompts: readonly string[], separator: string = AUTO): boolean {
  const models = separators.value
  if (separator !== AUTO || !models.some(({ answers }) => answers === 'text')) return false
  return prompts.some((prompt) => isSongHintFor(prompt, routePrompt(prompt, models).model))
}

/** Hint for a sound that is not in the tables of names. */
function doubtOf({ wanted }: PromptReading, model: string): string {
  const { names = [] } = separators.value.find(({ name }) => name === model) ?? {}
  const isListed = wanted.some(({ name, isKnown }) => isKnown || names.includes(name))
  if (names.length === 0 || isListed) return ''
  return (
    ', but knows no sound by this name. It takes one with this meaning, or else everything but ' +
    'speech.'
  )
}

/** Names that the installed models know: stems first. */
export const soundNames = (): string[] => namesOf(separators.value)
