/** Keeps texts in messages short enough to read. */

import { Type } from 'typebox'

const TEXT_CHARACTERS_MAX = 2_000

/** Text for people, which `shortText` makes short enough. */
export const Text = Type.String({ maxLength: TEXT_CHARACTERS_MAX })

/** Makes a text suitable for a database. */
export const StoredText = Type.String({ maxLength: TEXT_CHARACTERS_MAX, pattern: '^[^\\0]*$' })

/** Shortens a text for a message; an ellipsis replaces what is cut off. */
export function shortText(text: string): string {
  const clean = text.replaceAll('\0', '�')
  if (clean.length <= TEXT_CHARACTERS_MAX) return clean
  return `${[...clean].slice(0, TEXT_CHARACTERS_MAX - 1).join('')}…`
}
