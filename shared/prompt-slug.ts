/** A prompt as a part of a file's name. */

const CHARACTERS_MAX = 60

/** Letters and digits of any script, in lower case, with hyphens between words. */
export const promptSlug = (prompt: string): string =>
  [
    ...prompt
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
      .replace(/^-|-$/g, ''),
  ]
    .slice(0, CHARACTERS_MAX)
    .join('') || 'target'
