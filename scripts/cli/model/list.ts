/** The text of `model list`. */
import type { ModelRecord } from '../../../models/installed/record.ts'
import type { CatalogueEntry } from '../../../engine/installing/catalogue.ts'

/** The model in this repository, which need not be fetched. */
const MINI: Row = {
  name: 'mini',
  state: 'built in',
  licence: 'Apache-2.0',
  summary: 'Any sound by its description, and fast.',
}

/** The states of models, in the order of the list. */
const STATES = ['built in', 'installed', 'can be fetched'] as const

interface Row {
  name: string
  state: (typeof STATES)[number]
  /** Size of the download. */
  megabytes?: number
  /** In a word. */
  licence: string
  summary: string
}

/**
 * Returns JSON for programs, or a line for each model for people, with built-in and installed
 * models first.
 */
export function printedList(
  catalogue: readonly CatalogueEntry[],
  installed: ReadonlyMap<string, ModelRecord>,
  json: boolean,
): string {
  const imported = importedOf(catalogue, installed)
  if (json) {
    const listed = catalogue.map((entry) => ({
      ...entry,
      installed: installed.get(entry.name) ?? null,
    }))
    const others = imported.map((record) => ({
      name: record.name,
      kind: record.kind,
      installed: record,
    }))
    return `${JSON.stringify([...listed, ...others])}\n`
  }
  const rows = [
    MINI,
    ...catalogue.map((entry) => rowOf(entry, installed.has(entry.name))),
    ...imported.map(rowOfImport),
  ]
  const sorted = STATES.flatMap((state) => rows.filter((row) => row.state === state))
  return `${linesOf(sorted).join('\n')}\n\nLicences, quality and speed of each: --licences\n`
}

/** Returns a paragraph for each model: where it comes from, and what is known about it. */
export function printedLicences(
  catalogue: readonly CatalogueEntry[],
  installed: ReadonlyMap<string, ModelRecord>,
): string {
  return [
    ...catalogue.map((entry) => paragraph(entry, installed.get(entry.name))),
    ...importedOf(catalogue, installed).map(
      ({ name, kind, licence }) => `${name}  (${kind}, imported)\n  weights  ${licence}\n`,
    ),
  ].join('\n')
}

const importedOf = (
  catalogue: readonly CatalogueEntry[],
  installed: ReadonlyMap<string, ModelRecord>,
): ModelRecord[] =>
  [...installed.values()].filter(({ name }) => !catalogue.some((entry) => entry.name === name))

function rowOf(
  { name, licence, summary, megabytes, isBuiltIn }: CatalogueEntry,
  isInstalled: boolean,
): Row {
  const row = { name, licence: licence.word, summary }
  if (isInstalled) return { ...row, state: isBuiltIn ? 'built in' : 'installed' }
  return { ...row, state: 'can be fetched', megabytes }
}

const rowOfImport = ({ name, kind }: ModelRecord): Row => ({
  name,
  state: 'installed',
  licence: 'not stated',
  summary: `Imported, of the kind ${kind}.`,
})

function linesOf(rows: readonly Row[]): string[] {
  const cells = rows.map(({ name, state, megabytes, licence, summary }) => [
    name,
    megabytes === undefined ? state : `${megabytes} MB`,
    licence,
    summary,
  ])
  const widths = [0, 1, 2].map((i) => Math.max(...cells.map((row) => row[i]!.length)))
  return cells.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '))
}

const paragraph = (
  { name, summary, megabytes, quality, secondsPerMinute, licence, files }: CatalogueEntry,
  record: ModelRecord | undefined,
): string => {
  const state = record ? `installed ${record.installedAt.slice(0, 10)}` : `about ${megabytes} MB`
  return [
    `${name}  (${state})`,
    `  ${summary}`,
    `  quality  ${quality}`,
    `  speed    a minute of sound takes about ${secondsPerMinute} s on two cores`,
    `  code     ${licence.code}`,
    `  weights  ${licence.weights}`,
    `  SHA-256  ${checksumsOf(files)}`,
    '',
  ].join('\n')
}

/** Says of which of a model's files the checksum is known, and so checked. */
function checksumsOf(files: CatalogueEntry['files']): string {
  const none = files.filter(({ sha256 }) => sha256 === undefined).map(({ name }) => name)
  return none.length > 0 ? `none is published of ${none.join(', ')}` : 'published of all files'
}
