/** Texts in messages: none is longer than a reader takes. */

import { Type } from 'typebox'

const TEXT_CHARACTERS_MAX = 2_000

/** For people to read: `shortText` makes it short enough. */
export const Text = Type.String({ maxLength: TEXT_CHARACTERS_MAX })

/** A text that a database takes. */
export const StoredText = Type.String({ maxLength: TEXT_CHARACTERS_MAX, pattern: '^[^\\0]*$' })

/** A text as a message may have it; what is cut off shows as an ellipsis. */
export function shortText(text: string): string {
  const clean = text.replaceAll('\0', '�')
  if (clean.length <= TEXT_CHARACTERS_MAX) return clean
  return `${[...clean].slice(0, TEXT_CHARACTERS_MAX - 1).join('')}…`
}
