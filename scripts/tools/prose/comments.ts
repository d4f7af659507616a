import type { Advice, TextFile } from './advice.ts'

/** Captures the marker of a comment line, and its text. */
const COMMENT = /^\s*(\{?\/\*\*?|\/\/|\*(?!\/)|"""|#(?=\s|$)) ?(.*)$/
const HIDES_ITS_SUBJECT = /^(Of|What|Where|Whether|Those)\b/

/** Finds comments, and paragraphs within them, whose first word hides their subject. */
export function adviceOnComments({ path, text }: TextFile): Advice[] {
  return text.split('\n').flatMap((line, i, lines) => {
    const [, marker, words = ''] = COMMENT.exec(line) ?? []
    const [, before, wordsBefore] = COMMENT.exec(lines[i - 1] ?? '') ?? []
    const isContinued =
      marker === before && wordsBefore !== '' && /^(\/\/|\*|#)$/.test(marker ?? '')
    if (!HIDES_ITS_SUBJECT.test(words) || isContinued) return []
    const rule = 'a comment opens with what a thing is or does'
    return [{ path, line: i + 1, rule, text: line.trim() }]
  })
}
