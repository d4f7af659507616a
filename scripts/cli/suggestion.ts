/** Guesses the meaning of a misspelt word. */

/** A word that differs in more than a third of its letters is another word. */
const CHANGES_PER_LETTER_MAX = 1 / 3

/** ` Did you mean "quality"?`, or nothing where no word of `known` is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const [nearest] = known
    .map((other) => ({ other, changes: changesBetween(word, other) }))
    .filter(({ other, changes }) => changes <= Math.ceil(other.length * CHANGES_PER_LETTER_MAX))
    .sort((a, b) => a.changes - b.changes)
  return nearest ? ` Did you mean "${nearest.other}"?` : ''
}

/** Counts the letters added, left out or replaced between two words (Levenshtein distance). */
function changesBetween(word: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...word].entries()) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j += 1) {
      const replaced = row[j]! + Number(letter !== other[j])
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, replaced))
    }
    row = next
  }
  return row.at(-1)!
}
