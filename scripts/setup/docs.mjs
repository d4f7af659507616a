// The step that builds the documentation site. The service can run without it.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './commands.mjs'
import { hashOf, readText, ROOT, RUNTIME } from './files.mjs'
import { hashesOf } from './web.mjs'

/**
 * The sources that cause a rebuild. Documents elsewhere that the site links to are updated only
 * with the next rebuild.
 */
const SOURCES = ['docs', 'web/docs', 'scripts/tools/docs', 'models/mini/pictures', 'examples']
const FILES = ['README.md', 'scripts/tools/docs.ts', 'package-lock.json', 'models/mini/card.md']

/** Counts as done in a package, which contains the site but not its sources. */
export function docsStep() {
  const folder = join(RUNTIME, 'docs')
  const marker = join(folder, '.made-of')
  const hasSources = existsSync(join(ROOT, 'docs'))
  const key = hasSources ? hashOf(hashesOf(SOURCES, FILES).join('\n')) : ''
  return {
    title: 'the documents',
    isDone: () => !hasSources || readText(marker) === key,
    async run() {
      try {
        await execute(process.execPath, ['--import', 'tsx', 'scripts/tools/docs.ts'])
      } catch (error) {
        console.warn(
          `WARNING: ${error.message}\nWinnow runs without /docs; try: npm run winnow -- docs\n`,
        )
        mkdirSync(folder, { recursive: true })
      }
      writeFileSync(marker, key)
    },
  }
}
