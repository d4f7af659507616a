import { AVOIDED, type Advice, type TextFile } from './advice.ts'

const LONG_SENTENCE_WORDS = 30
/** Separates paragraphs, list items and table cells. */
const BREAK = /(\n\s*\n|\n(?=\s*(?:[-*]|\d+\.|#+) |\|)|\|)/

/** Finds words to avoid, doubled words and long sentences in a page. */
export function adviceOnPage({ path, text }: TextFile): Advice[] {
  return paragraphsOf(text).flatMap(({ line, words }) => {
    const term = AVOIDED.exec(words)?.[0].toLowerCase()
    const doubled = /(?<![\w-])([a-z]+) \1(?![\w-])/.exec(words)?.[0]
    return [
      ...(term === undefined ? [] : [{ path, line, rule: `avoid "${term}"`, text: words }]),
      ...(doubled === undefined ? [] : [{ path, line, rule: 'a doubled word', text: doubled }]),
      ...longSentences(words).map((sentence) => ({
        path,
        line,
        rule: `a sentence of more than ${LONG_SENTENCE_WORDS} words`,
        text: `(${countWords(sentence)}) ${sentence}`,
      })),
    ]
  })
}

/**
 * Removes code blocks and comments but keeps their line breaks, so that line numbers stay right.
 */
export const withoutCode = (text: string): string =>
  text.replace(/^```[^]*?^```$|<!--[^]*?-->/gm, newlinesOf)

/** Counts the words of a text, without dashes and the rules of tables. */
export const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

const newlinesOf = (text: string): string => text.replace(/[^\n]/g, '')

/** Splits a page into paragraphs, each with its first line, without code and link targets. */
function paragraphsOf(page: string): { line: number; words: string }[] {
  const text = withoutCode(page)
    .replace(/``.+?``|`[^`]*`/g, (code) => `CODE${newlinesOf(code)}`)
    .replace(/!?\[([^\]]*)\]\(([^)]*)\)/g, (_, label: string, to: string) => label + newlinesOf(to))
  let line = 1
  return text.split(BREAK).flatMap((part, i) => {
    const begins = line + newlinesOf(/^\s*/.exec(part)![0]).length
    line += newlinesOf(part).length
    const words = part.replace(/\s+/g, ' ').trim()
    return i % 2 === 0 && words ? [{ line: begins, words }] : []
  })
}

/** Returns the long sentences; a cell or list item that is not a sentence may have any length. */
const longSentences = (words: string): string[] =>
  /[.:]$/.test(words)
    ? words
        .split(/(?<=[.!?:]) (?=["“(*]*[A-Z])/)
        .filter((sentence) => countWords(sentence) > LONG_SENTENCE_WORDS)
    : []
