/** Names output files for the service, its page and the command line. */

import { readPrompt } from './prompts/read-prompt.ts'

const CHARACTERS_MAX = 60
const SLUG_BYTES_MAX = 120
/**
 * How many characters of prompts a residual's name may have; beyond that, the remaining prompts are
 * only counted.
 */
const RESIDUAL_CHARACTERS_MAX = 100

/** Returns letters and digits of any script, in lower case, with hyphens between words. */
export function promptSlug(prompt: string): string {
  const words = prompt
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replace(/^-|-$/g, '')
  return cut([...words].slice(0, CHARACTERS_MAX).join(''), SLUG_BYTES_MAX) || 'target'
}

export interface OutputLabels {
  /** One per prompt, in order, all different. */
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
  const rest = isTaken ? only.slice(WITHOUT.length) : `${WITHOUT}${joinSlugs(slugs)}`
  return { targets, residual: `rest.${rest}` }
}

const WITHOUT = 'without-'

/** Names the target of a prompt with the words of the prompt. */
function readingSlug(prompt: string): string {
  const { wanted, unwanted, isPlain } = readPrompt(prompt)
  if (isPlain) return promptSlug(prompt)
  const sum = (sounds: readonly { typed: string }[]) =>
    joinSlugs(sounds.map(({ typed }) => promptSlug(typed)))
  const less = unwanted.length > 0 ? [`${WITHOUT}${sum(unwanted)}`] : []
  const label = [...(wanted.length > 0 ? [sum(wanted)] : []), ...less].join('-')
  return cut(label, SLUG_BYTES_MAX)
}

/** Returns the end of a target's label if the target contains something other than its prompt. */
export const substituteEnd = (label: string): string => `-not-${label}`

function joinSlugs(slugs: readonly string[]): string {
  const isLong = (count: number) => slugs.slice(0, count).join('+').length > RESIDUAL_CHARACTERS_MAX
  const firstLong = slugs.findIndex((_, i) => isLong(i + 1))
  if (firstLong < 0) return slugs.join('+')
  return [...slugs.slice(0, firstLong), `${slugs.length - firstLong}-more`].join('+')
}

/** The longest name that common file systems accept, in bytes of UTF-8. */
const NAME_BYTES_MAX = 255
/** Leaves room for a stem. The labels of targets are shorter, so they stay different. */
const LABEL_BYTES_MAX = 200

/**
 * Returns for example `concert.piano.wav` for `concert.m4a` and `piano`. A name that is too long
 * for file systems is shortened in the stem, which all outputs of a source share.
 * @param stem the source's name without its extension
 */
export function outputName(stem: string, label: string, extension: string): string {
  const end = `.${cut(label, LABEL_BYTES_MAX)}.${extension}`
  return cut(stem, NAME_BYTES_MAX - bytesOf(end)) + end
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

const characters = new Intl.Segmenter()

/**
 * Removes characters (as readers count them) from the middle until `bytesMax` bytes of UTF-8 are
 * left, because the start and the end of names are what distinguishes files.
 */
function cut(text: string, bytesMax: number): string {
  const kept = Array.from(characters.segment(text), ({ segment }) => segment)
  let excess = bytesOf(text) - bytesMax
  while (excess > 0) excess -= bytesOf(kept.splice(kept.length >> 1, 1).join(''))
  return kept.join('')
}
