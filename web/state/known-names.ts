/** The names of sounds that models know, compared with what people type: by letters alone. */

const NEAREST_MAX = 3
/** From 0 to 1: less alike are not the same word typed wrongly. */
const LIKENESS_LEAST = 0.4

/** Returns whether one of the names is in the prompt, in singular or plural. */
export function isNamed(prompt: string, names: readonly string[]): boolean {
  const words = ` ${wordsOf(prompt).join(' ')} `
  return names.some((name) => words.includes(` ${wordsOf(name).join(' ')} `))
}

/** The names whose letters are most like those of the prompt, or of a word of it. */
export function nearestNames(prompt: string, names: readonly string[]): string[] {
  const typed = [wordsOf(prompt).join(' '), ...wordsOf(prompt)]
  return names
    .map((name) => ({ name, likeness: Math.max(...typed.map((text) => likenessOf(text, name))) }))
    .filter(({ likeness }) => likeness >= LIKENESS_LEAST)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, NEAREST_MAX)
    .map(({ name }) => name)
}

const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.replace(/s$/, ''))

/** Dice's coefficient of the pairs of letters. */
function likenessOf(one: string, other: string): number {
  const [pairs, others] = [pairsOf(one), pairsOf(other)]
  const shared = [...pairs].filter((pair) => others.has(pair)).length
  return (2 * shared) / Math.max(1, pairs.size + others.size)
}

/** With the edges of the text, so that single letters have pairs too. */
const pairsOf = (text: string): Set<string> => {
  const padded = ` ${text.toLowerCase()} `
  return new Set(Array.from({ length: padded.length - 1 }, (_, i) => padded.slice(i, i + 2)))
}
