/** Formats the findings as a table. */

import type { Finding, Severity } from './finding.ts'

const WORDS: Readonly<Record<Severity, string>> = {
  fine: 'ok',
  unused: '-',
  warning: 'WARN',
  failure: 'FAIL',
}

const SEVERITY_COLUMNS = Math.max(...Object.values(WORDS).map((word) => word.length))

/** One line for each finding, with its remedy below, and then how many are not fine. */
export function printed(findings: readonly Finding[]): string {
  const columns = Math.max(...findings.map(({ name }) => name.length))
  const lines = findings.flatMap(({ name, severity, found, remedy }) => [
    `${WORDS[severity].padEnd(SEVERITY_COLUMNS)}  ${name.padEnd(columns)}  ${singleLine(found)}`,
    ...(remedy ? [`${' '.repeat(SEVERITY_COLUMNS + columns + 4)}→ ${singleLine(remedy)}`] : []),
  ])
  const count = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length
  const [failures, warnings] = [count('failure'), count('warning')]
  const sum =
    failures + warnings === 0
      ? 'Nothing is missing.'
      : `${countText(failures, 'failure')}, ${countText(warnings, 'warning')}.`
  return [...lines, '', sum, ''].join('\n')
}

const countText = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`

/** Prevents text from elsewhere from breaking the table. */
const singleLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
