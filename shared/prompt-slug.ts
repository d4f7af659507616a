/** Names of output files, as the service, its page and the command line give them. */

const CHARACTERS_MAX = 60
/** Characters of the prompts in a residual's name; more are counted. */
const RESIDUAL_CHARACTERS_MAX = 100

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

export interface OutputLabels {
  /** One per prompt in order, all different. */
  targets: string[]
  residual: string
}

/**
 * Labels between the source's name and the extension: `piano`, `rest.without-piano+drums`, and
 * `everything-but-speech-not-kettle` if the target of `kettle` holds something else.
 * @param holds what the target of a prompt holds instead, for those that the model does not know
 */
export function outputLabels(
  prompts: readonly string[],
  holds: readonly (string | undefined)[] = [],
): OutputLabels {
  const all = prompts.map((prompt) => promptSlug(prompt))
  const slugs = all.map((slug, i) => (all.indexOf(slug) < i ? `${slug}-${i + 1}` : slug))
  const targets = slugs.map((slug, i) => {
    const instead = holds[i]
    return instead === undefined ? slug : `${promptSlug(instead)}${substituteEnd(slug)}`
  })
  return { targets, residual: `rest.without-${joined(slugs)}` }
}

/** How the label of a target ends that holds something else than its prompt. */
export const substituteEnd = (label: string): string => `-not-${label}`

function joined(slugs: readonly string[]): string {
  const isLong = (count: number) => slugs.slice(0, count).join('+').length > RESIDUAL_CHARACTERS_MAX
  const firstLong = slugs.findIndex((_, i) => isLong(i + 1))
  if (firstLong < 0) return slugs.join('+')
  return [...slugs.slice(0, firstLong), `${slugs.length - firstLong}-more`].join('+')
}

/** `concert.m4a` and `piano` give `concert.piano.wav`. @param stem without its extension */
export const outputName = (stem: string, label: string, extension: string): string =>
  `${stem}.${label}.${extension}`
