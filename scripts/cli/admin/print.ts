/** Prints the results of the admin tools. */

type Text = string | number | boolean | null | undefined
type Value = Text | Readonly<Record<string, Text>>
type Row = Readonly<Record<string, Value>>

/** Formats a list as a table and anything else as one field per line; secrets get a warning. */
export function printed(answer: object): string {
  const { object, data } = answer as { object?: unknown; data?: Row[] }
  if (object === 'list' && data) return table(data)
  const { key, ...rest } = answer as Row & { key?: string }
  const width = Math.max(...Object.keys(rest).map((name) => name.length))
  const lines = Object.entries(rest)
    .map(([name, value]) => `${name.padEnd(width)}  ${displayText(value)}\n`)
    .join('')
  return key === undefined ? lines : `${lines}\nThe key, which is shown only now:\n${key}\n`
}

function table(rows: readonly Row[]): string {
  const [first] = rows
  if (!first) return 'none\n'
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row).map(displayText))]
  const widths = Object.keys(first).map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  const printLine = (line: readonly string[]) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return lines.map((line) => `${printLine(line)}\n`).join('')
}

/** Names are free text, so control characters are shown escaped. */
function displayText(value: Value): string {
  if (value === null || value === '') return '-'
  if (typeof value === 'object') {
    const set = Object.entries(value).filter(([, each]) => each !== null)
    return set.map(([name, each]) => `${name}=${displayText(each)}`).join(' ') || '-'
  }
  return String(value).replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
}
