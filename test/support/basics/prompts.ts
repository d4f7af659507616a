/** Reads prompts for tests of the vocabulary. */

import { readPrompt } from '../../../shared/prompts/read-prompt.ts'

/** Splits a text at its slashes. */
export const phrases = (text: string): string[] => text.trim().split(/\s+\/\s+/)

/**
 * Shows how a prompt is read, as one line: `speech + dog - woman`; `* - drums` is everything but
 * the drums.
 */
export function read(prompt: string): string {
  const { wanted, unwanted } = readPrompt(prompt)
  const sum = (sounds: typeof wanted) => sounds.map(({ name }) => name).join(' + ')
  const less = unwanted.length > 0 ? ` - ${sum(unwanted)}` : ''
  return `${wanted.length > 0 ? sum(wanted) : '*'}${less}`
}
