/** The models that the service has, and which of them answers a prompt. */

import { signal } from '@preact/signals'
import type { ModelList } from '../../clients/typescript/client.ts'
import type { PromptReading } from '../../shared/prompts/read-prompt.ts'
import { AUTO, routePrompt, type Question } from '../../shared/prompts/route-prompt.ts'
import { isSongHintFor } from '../../shared/prompts/song-hint.ts'
import { namesOf } from '../../shared/tasks.ts'
import { currentClient, messageOf } from './credential.ts'

export type Separator = NonNullable<ModelList['data'][number]['separators']>[number]

/** In order of preference; empty if there is no engine, or the service does not list them. */
export const separators = signal<readonly Separator[]>([])
/** The longest media that the service takes, in seconds; infinite while it is not known. */
export const mediaSecondsMax = signal(Infinity)
/** Why they are unknown. */
export const separatorsProblem = signal('')

/** How long to wait while no engine has announced its models. */
const RETRY_MS = 5_000

/**
 * Loads the models, repeatedly until there are any.
 * @returns a function that stops it
 */
export function loadSeparatorsUntilKnown(): () => void {
  void load()
  const timer = setInterval(() => {
    if (separators.peek().length === 0) void load()
  }, RETRY_MS)
  return () => clearInterval(timer)
}

async function load(): Promise<void> {
  try {
    const { data } = await currentClient().models()
    separators.value = data[0]?.separators ?? []
    mediaSecondsMax.value = data[0]?.media_seconds_max ?? Infinity
    separatorsProblem.value = ''
  } catch (error) {
    separatorsProblem.value = messageOf(error)
  }
}

/** Says what is taken out for a prompt and by which model, or why no model can do it. */
export function answerTo(prompt: string, separator?: string): string {
  try {
    const { model, wanted, unwanted, reading } = routePrompt(prompt, separators.value, separator)
    if (reading.isPlain && wanted.length === 1 && wanted[0]!.stems.length === 0) {
      return `“${prompt}”, by ${model}${unknownNameWarning(reading, model)}`
    }
    const namesOf = (questions: readonly Question[]) =>
      questions.flatMap(({ sound, stems }) => (stems.length > 0 ? stems : [sound])).join(' and ')
    const without = unwanted.length > 0 ? ` without ${namesOf(unwanted)}` : ''
    const taken =
      wanted.length === 0 ? `everything but ${namesOf(unwanted)}` : namesOf(wanted) + without
    const isAsTyped = taken === prompt.toLowerCase()
    return `“${prompt}”${isAsTyped ? '' : `: ${taken}`}, by ${model}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Whether to hint at a better model for songs; not if a model was chosen explicitly. */
export function isSongHintDue(prompts: readonly string[], separator: string = AUTO): boolean {
  const models = separators.value
  if (separator !== AUTO || !models.some(({ answers }) => answers === 'text')) return false
  return prompts.some((prompt) => isSongHintFor(prompt, routePrompt(prompt, models).model))
}

/** A warning about a sound that the tables of names do not contain. */
function unknownNameWarning({ wanted }: PromptReading, model: string): string {
  const { names = [] } = separators.value.find(({ name }) => name === model) ?? {}
  const isListed = wanted.some(({ name, isKnown }) => isKnown || names.includes(name))
  if (names.length === 0 || isListed) return ''
  return (
    ', which knows no sound by this name. It takes one with a similar meaning, or else ' +
    'everything but speech.'
  )
}

/** Names that the installed models know, stems first. */
export const soundNames = (): string[] => namesOf(separators.value)
