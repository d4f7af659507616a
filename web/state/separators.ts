/** The models that the service has, and which of them answers a prompt. */

import { signal } from '@preact/signals'
import type { ModelList } from '../../clients/typescript/client.ts'
import { routePrompt } from '../../shared/route-prompt.ts'
import { namesOf } from '../../shared/tasks.ts'
import { currentClient, messageOf } from './credential.ts'
import { isNamed, nearestNames } from './known-names.ts'

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
    const { model, stems, isWithout } = routePrompt(prompt, separators.value, separator)
    if (stems.length === 0) return `${model} answers “${prompt}”${doubtOf(prompt, model)}`
    return `${model} answers “${prompt}”: ${isWithout ? 'all but ' : ''}${stems.join(' and ')}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Hint for a prompt that has none of the names in a model's list. */
function doubtOf(prompt: string, model: string): string {
  const { names = [] } = separators.value.find(({ name }) => name === model) ?? {}
  if (names.length === 0 || isNamed(prompt, names)) return ''
  const nearest = nearestNames(prompt, names).map((name) => `“${name}”`)
  const hint = nearest.length > 0 ? ` Names that are spelt like it: ${nearest.join(', ')}.` : ''
  return (
    ', but knows no sound by this name. It takes one with this meaning, or else everything but ' +
    `speech.${hint}`
  )
}

/** Names that the installed models know: stems first. */
export const soundNames = (): string[] => namesOf(separators.value)
