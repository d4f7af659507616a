/** Redoc, which shows the API description: its file, and the packages that stand in that file. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'node_modules/redoc/bundles/redoc.standalone.js'
/** Its own mark in the corner, which a page that asks nobody else can't load. */
const FOREIGN_PICTURE = 'https://cdn.redoc.ly/redoc/logo-mini.svg'
const EMPTY_PICTURE = 'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E'

/** @throws Error when another version of Redoc loads its picture from elsewhere */
export function redocScript(root: string): string {
  const script = readFileSync(join(root, FILE), 'utf8')
  if (!script.includes(FOREIGN_PICTURE)) throw new Error('Redoc names its picture otherwise now')
  return script.replaceAll(FOREIGN_PICTURE, EMPTY_PICTURE)
}

/**
 * The installed packages that stand in Redoc's file, sorted, by its source map. Its own notice,
 * beside the file, names the rest.
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
