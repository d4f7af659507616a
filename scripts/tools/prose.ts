/**
 * `npm run prose`: lists, by file and line, what may be hard to read in documents, comments and
 * messages, and the number of words of each page. It is advice, and always exits with 0.
 */

import { readFileSync } from 'node:fs'
import { adviceOnComments } from './prose/comments.ts'
import { listFiles } from './prose/files.ts'
import { adviceOnMessages } from './prose/messages.ts'
import { adviceOnPage, countWords, withoutCode } from './prose/pages.ts'

const { pages, code, speaking } = listFiles()
const read = (path: string) => ({ path, text: readFileSync(path, 'utf8') })
const advice = [
  ...pages.map(read).flatMap(adviceOnPage),
  ...code.map(read).flatMap(adviceOnComments),
  ...speaking.map(read).flatMap(adviceOnMessages),
]
for (const { path, line, rule, text } of advice) console.log(`${path}:${line} ${rule}: ${text}`)

console.log('\nWords by page:')
const lengths = pages.map((path) => ({ path, words: countWords(withoutCode(read(path).text)) }))
for (const { path, words } of lengths.sort((a, b) => b.words - a.words)) {
  console.log(`${String(words).padStart(7)} ${path}`)
}
console.log(`${String(lengths.reduce((sum, { words }) => sum + words, 0)).padStart(7)} in all`)

console.log('\nRemarks by rule:')
for (const rule of new Set(advice.map((remark) => remark.rule))) {
  const count = advice.filter((remark) => remark.rule === rule).length
  console.log(`${String(count).padStart(7)} ${rule}`)
}
console.log(`${String(advice.length).padStart(7)} in all`)
