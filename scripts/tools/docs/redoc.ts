/** Prepares Redoc, which shows the API description, and lists the packages bundled in it. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'node_modules/redoc/bundles/redoc.standalone.js'
const EMPTY_PICTURE = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E'
/** Pairs of a text in Redoc's file and its replacement. */
const REPLACEMENTS = [
  // Its logo in the corner: the site loads nothing from elsewhere.
  ['https://cdn.redoc.ly/redoc/logo-mini.svg', EMPTY_PICTURE],
  // Colours that a theme of Redoc can't set (patterns, lines, security), replaced with those of
  // site.css.
  ['#0e7c86', 'var(--accent)'],
  ['#9fb4be', 'var(--line)'],
  ['#e4e7eb', 'var(--paper)'],
] as const

/** @throws Error when another version of Redoc no longer has what is to be replaced */
export function redocScript(root: string): string {
  return REPLACEMENTS.reduce(
    (script, [old, replacement]) => {
      if (!script.includes(old)) throw new Error(`Redoc has no ${old} any more`)
      return script.replaceAll(old, replacement)
    },
    readFileSync(join(root, FILE), 'utf8'),
  )
}

/**
 * The installed packages that stand in Redoc's file, sorted, by its source map. Its own notice,
 * next to the file, names the rest.
 */
export function packagesInRedoc(root: string): string[] {
  const { sources } = JSON.parse(readFileSync(join(root, `${FILE}.map`), 'utf8')) as {
    sources: string[]
  }
  const names = sources.flatMap(
    (source) => /.*node_modules\/((?:@[^/]+\/)?[^/?]+)/.exec(source)?.[1] ?? [],
  )
  return [...new Set(['redoc', ...names])]
    .filter((name) => existsSync(join(root, 'node_modules', name)))
    .sort()
}
