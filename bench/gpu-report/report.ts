/** Writes the programme's report as Markdown. */
import { verdicts, type LadderRow } from './ladder.ts'
import type { Cell, PartReport, Options, Row } from './options.ts'

export interface PartResult extends PartReport {
  title: string
  seconds: number
  /** One line about how it failed; absent if it did not. */
  failure?: string
}

export interface Programme {
  machine: { cpus: string; memoryBytes: number; driver: string; isOnGpu: boolean }
  options: Options
  /** In the order of `PARTS`, without those that have not run. */
  parts: Readonly<Record<string, PartResult>>
}

export function markdown({ machine, options, parts }: Programme): string {
  const { cpus, memoryBytes, driver, isOnGpu } = machine
  const lines = [
    '# GPU programme',
    '',
    `${cpus}, ${Math.round(memoryBytes / 2 ** 30)} GiB, NVIDIA driver: ${driver}.`,
    ...(isOnGpu
      ? []
      : ['', '**No GPU was used: this shows that the programme runs, and nothing of speed.**']),
    '',
    `Options: \`${JSON.stringify(options)}\``,
    ...ladder(parts),
  ]
  return `${[...lines, ...Object.entries(parts).flatMap(section)].join('\n')}\n`
}

/** Names the first step that is wrong or slow, ahead of all figures. */
function ladder(parts: Programme['parts']): string[] {
  const steps = Object.entries(parts).filter(([name]) => name.startsWith('ladder-'))
  const lines = verdicts(steps.flatMap(([, { rows }]) => rows as LadderRow[]))
  return lines.length > 0 ? ['', '## The ladder', '', ...lines.map((line) => `- ${line}`)] : []
}

function section([name, { title, seconds, rows, notes = [], failure }]: [string, PartResult]) {
  return [
    '',
    `## ${name}: ${title}`,
    '',
    failure === undefined
      ? `${seconds.toFixed(1)} s.`
      : `**Failed** after ${seconds.toFixed(1)} s: ${failure}`,
    ...notes.flatMap((note) => ['', note]),
    ...(rows.length > 0 ? ['', ...table(rows)] : []),
  ]
}

function table(rows: readonly Row[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => cellText(row[column])))),
  ]
}

function cellText(cell: Cell | undefined): string {
  if (cell === undefined || cell === null) return ''
  if (typeof cell !== 'number') return String(cell).replaceAll('|', '\\|')
  return Number.isInteger(cell) ? String(cell) : String(Number(cell.toPrecision(3)))
}
