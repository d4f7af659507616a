/** Names of output files, as the service, its page and the command line give them. */

import { readPrompt } from './prompts/read-prompt.ts'

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
 * Labels between the source's name and the extension: `piano`, `without-drums`, `speech+piano`,
 * `rest.without-piano+drums`, and `everything-but-speech-not-kettle` if the target of `kettle`
 * holds something else.
 * @param holds what the target of a prompt holds instead, for those that the model does not know
 * @param areRead whether the target of a prompt is what `readPrompt` says; of engines up to 0.4.0
 *   it is not
 */
export function outputLabels(
  prompts: readonly string[],
  holds: readonly (string | undefined)[] = [],
  areRead: readonly boolean[] = [],
): OutputLabels {
  const all = prompts.map((prompt, i) =>
    areRead[i] === false ? promptSlug(prompt) : readingSlug(prompt),
  )
  const slugs = all.map((slug, i) => (all.indexOf(slug) < i ? `${slug}-${i + 1}` : slug))
  const targets = slugs.map((slug, i) => {
    const instead = holds[i]
    return instead === undefined ? slug : `${promptSlug(instead)}${substituteEnd(slug)}`
  })
  const [only = ''] = slugs
  const isTaken = slugs.length === 1 && only.startsWith(WITHOUT)
  const rest = isTaken ? only.slice(WITHOUT.length) : `${WITHOUT}${joined(slugs)}`
  return { targets, residual: `rest.${rest}` }
}

const WITHOUT = 'without-'

/** What the target of a prompt is, in the words of the prompt. */
function readingSlug(prompt: string): string {
  const { wanted, unwanted, isPlain } = readPrompt(prompt)
  if (isPlain) return promptSlug(prompt)
  const sum = (sounds: readonly { typed: string }[]) =>
    joined(sounds.map(({ typed }) => promptSlug(typed)))
  const less = unwanted.length > 0 ? [`${WITHOUT}${sum(unwanted)}`] : []
  return [...(wanted.length > 0 ? [sum(wanted)] : []), ...less].join('-')
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
