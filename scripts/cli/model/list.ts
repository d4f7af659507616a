/** The text of `model list`. */
import type { ModelRecord } from '../../../models/installed/record.ts'
import type { CatalogueEntry } from './catalogue.ts'

/** Returns JSON for programs, or a paragraph per model for people. */
export function printedList(
  catalogue: readonly CatalogueEntry[],
  installed: ReadonlyMap<string, ModelRecord>,
  json: boolean,
): string {
  const own = [...installed.values()].filter(
    ({ name }) => !catalogue.some((entry) => entry.name === name),
  )
  if (json) {
    const known = catalogue.map((entry) => ({
      ...entry,
      installed: installed.get(entry.name) ?? null,
    }))
    const others = own.map((record) => ({
      name: record.name,
      kind: record.kind,
      installed: record,
    }))
    return `${JSON.stringify([...known, ...others])}\n`
  }
  return [
    ...catalogue.map((entry) => paragraph(entry, installed.get(entry.name))),
    ...own.map(({ name, kind }) => `${name}  (${kind}, installed, imported by hand)\n`),
  ].join('\n')
}

const paragraph = (
  { name, summary, megabytes, quality, secondsPerMinute, licence }: CatalogueEntry,
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
    '',
  ].join('\n')
}
