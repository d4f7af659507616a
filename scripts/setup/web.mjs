// The step that builds the page from its sources.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './commands.mjs'
import { hashOf, readText, ROOT, RUNTIME } from './files.mjs'

/** The page's sources. */
const SOURCES = ['web', 'clients/typescript', 'examples', 'shared/prompts']
const MAKERS = [
  ...['shared/errors.ts', 'shared/file-limits.ts', 'shared/tasks.ts'],
  ...['scripts/setup/build-page.mjs', 'package-lock.json'],
]

/** Counts as done in a package, which contains the page but not its sources. */
export function webStep() {
  const marker = join(RUNTIME, 'web/.made-of')
  const hasSources = existsSync(join(ROOT, 'web'))
  const key = hasSources ? hashOf(hashesOf(SOURCES, MAKERS).join('\n')) : ''
  return {
    title: 'the playground',
    isDone: () => !hasSources || readText(marker) === key,
    async run() {
      await execute(process.execPath, ['scripts/setup/build-page.mjs'])
      writeFileSync(marker, key)
    },
  }
}

/**
 * Returns the path and hash of each file in the folders and of the other files, all relative to the
 * root of the checkout.
 */
export function hashesOf(folders, files) {
  const inFolders = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
      .filter(({ parentPath }) => !/node_modules|__pycache__/.test(parentPath))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  return [...inFolders.sort(), ...files.map((file) => join(ROOT, file))].map(
    (file) => `${file.slice(ROOT.length)} ${hashOf(readFileSync(file))}`,
  )
}
