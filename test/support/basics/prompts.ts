/** Reads prompts for tests of the vocabulary. */

import { readPrompt } from '../../../shared/prompts/read-prompt.ts'

/** Splits a text at slashes that have space around them. */
export const phrases = (text: string): string[] => text.trim().split(/\s+\/\s+/)

/**
 * Summarizes how a prompt is read: `speech + dog - woman`; `* - drums` means everything but the
 * drums.
 */
export function read(prompt: string): string {
  const { wanted, unwanted } = readPrompt(prompt)
  const sum = (sounds: typeof wanted) => sounds.map(({ name }) => name).join(' + ')
  const less = unwanted.length > 0 ? ` - ${sum(unwanted)}` : ''
  return `${wanted.length > 0 ? sum(wanted) : '*'}${less}`
}
