/** Makes docs/reference/licences.md. */

import { readFileSync } from 'node:fs'
import type { Part, Parts } from './parts.ts'

const HEAD = readFileSync(new URL('head.md', import.meta.url), 'utf8')

export function licencesPage({ packages, wheels, others }: Parts): string {
  return [
    HEAD,
    `## Of the repository and inside other parts\n\n${table(others)}`,
    `## From PyPI\n\nA machine has the TensorFlow for CPU or the one for CUDA.\n\n${table(wheels)}`,
    `## From npm\n\n${counts(packages)}\n\n${table(packages)}`,
  ].join('\n')
}

function counts(parts: readonly Part[]): string {
  const byLicence = new Map<string, number>()
  for (const { licence } of parts) byLicence.set(licence, (byLicence.get(licence) ?? 0) + 1)
  const sorted = [...byLicence].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return `${sorted.map(([licence, count]) => `${count} ${licence}`).join(', ')}.`
}

const table = (parts: readonly Part[]): string =>
  [
    '| name | version | licence |',
    '|---|---|---|',
    ...parts.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`),
    '',
  ].join('\n')
