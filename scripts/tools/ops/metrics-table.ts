/** Writes the table of all metrics between two comments of docs/reference/metrics.md. */

import { METRICS_OF } from '../../../shared/telemetry/metric-definitions.ts'

const MARKS = /(<!-- written by npm run winnow -- ops[^\n]*-->\n)[^]*?(\n<!-- end -->)/

/** @throws Error if `document` lacks the two comments */
export function withMetricsTable(document: string): string {
  if (!MARKS.test(document)) throw new Error('the document has no place for the table of metrics')
  return document.replace(MARKS, (_, before: string, after: string) => before + table() + after)
}

function table(): string {
  const rows = Object.entries(METRICS_OF).flatMap(([program, metrics]) =>
    Object.entries(metrics).map(([name, { type, help, labelNames }]) => {
      const labels = labelNames.map((label) => `\`${label}\``).join(', ')
      return `| \`${name}\` | ${program} | ${type} | ${labels} | ${help} |\n`
    }),
  )
  return `\n| metric | of | type | labels | |\n|---|---|---|---|---|\n${rows.join('')}`
}
