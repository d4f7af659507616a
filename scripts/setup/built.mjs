// Steps that build something from sources of this checkout: the page, and the documents.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './commands.mjs'
import { hashOf, readText, ROOT, RUNTIME } from './files.mjs'

/** The folders that the page is built from. */
export const PAGE_FOLDERS = ['web', 'clients/typescript', 'examples', 'shared']

export const webStep = () =>
  builtStep({
    title: 'the page',
    name: 'web',
    folders: PAGE_FOLDERS,
    files: ['scripts/setup/build-page.mjs', 'package-lock.json'],
    build: () => execute(process.execPath, ['scripts/setup/build-page.mjs']),
  })

/**
 * The site also links to documents outside these folders. A change to one of them shows only after
 * the next rebuild.
 */
export const docsStep = () =>
  builtStep({
    title: 'the documents',
    name: 'docs',
    folders: ['docs', 'web/docs', 'scripts/tools/docs', 'models/mini/pictures', 'examples'],
    files: ['README.md', 'scripts/tools/docs.ts', 'package-lock.json', 'models/mini/card.md'],
    async build() {
      try {
        await execute(process.execPath, ['--import', 'tsx', 'scripts/tools/docs.ts'])
      } catch (error) {
        console.warn(
          `WARNING: ${error.message}\nWinnow runs without /docs; try: npm run winnow -- docs\n`,
        )
      }
    },
  })

/**
 * Returns a step that builds .runtime/<name> when its sources have changed. A package contains the
 * result but not the sources, so there the step is done.
 * @param folders of sources; packages do not contain the first one
 * @param files further sources
 * @param build receives the folder of the result
 */
export function builtStep({ title, name, folders, files, build }) {
  const result = join(RUNTIME, name)
  const marker = join(result, '.made-of')
  const hasSources = existsSync(join(ROOT, folders[0]))
  const key = hasSources ? hashOf(hashesOf(folders, files).join('\n')) : ''
  return {
    title,
    isDone: () => !hasSources || readText(marker) === key,
    async run() {
      await build(result)
      mkdirSync(result, { recursive: true }) // a build may only warn that it failed
      writeFileSync(marker, key)
    },
  }
}

/** Returns the path and hash of every source, relative to the root of the checkout. */
function hashesOf(folders, files) {
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
