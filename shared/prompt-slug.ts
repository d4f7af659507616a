/** Prompts as parts of files' names. */

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

/** The slugs of a request's prompts, each another than the others and than that of the residual. */
export function targetLabels(prompts: readonly string[]): string[] {
  const slugs = prompts.map((prompt) => promptSlug(prompt))
  return slugs.map((slug, i) => {
    const isTaken = slug === 'residual' || slugs.indexOf(slug) < i
    return isTaken ? `${slug}-${i + 1}` : slug
  })
}
