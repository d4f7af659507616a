/**
 * How a program of ours starts another, as a process or a thread. One that runs compiled
 * (scripts/setup/programs.mjs) starts the compiled one beside it; one that runs from its sources
 * starts sources, which tsx compiles.
 */

import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of compiled programs, in one of them. */
const COMPILED = import.meta.filename.endsWith('.mjs') ? import.meta.dirname : undefined

/** The compiled program of a source, if there is one beside us. */
function compiledOf(source: URL): string | undefined {
  if (COMPILED === undefined) return undefined
  const name = relative(ROOT, fileURLToPath(source)).replaceAll('/', '.')
  const path = join(COMPILED, name.replace(/ts$/, 'mjs'))
  return existsSync(path) ? path : undefined
}

/** Arguments for node that run a program. */
export function programArguments(source: URL): string[] {
  const compiled = compiledOf(source)
  if (compiled !== undefined) return [compiled]
  return ['--import', import.meta.resolve('tsx'), fileURLToPath(source)]
}

/** Threads of that process that run JavaScript: tsx has one of its own on Node 20. */
export const programThreads = (source: URL): number => (compiledOf(source) === undefined ? 2 : 1)

/** What processes that read media use of the models, which loads nothing else. */
const LIGHT_MODELS = ['models/lanes/channel-rows.ts', 'models/lanes/level.ts']

/** What that process reads from the start, besides packages: files, and folders with all in it. */
export function programPlaces(source: URL): string[] {
  if (COMPILED !== undefined && compiledOf(source) !== undefined) return [COMPILED]
  return [
    dirname(fileURLToPath(source)),
    ...['engine', 'shared', 'tsconfig.json', ...LIGHT_MODELS].map((name) => join(ROOT, name)),
    `/tmp/tsx-${userInfo().uid}`, // what tsx has compiled before, where it keeps it without TMPDIR
  ]
}

/**
 * A program of a worker thread, as text to evaluate: on Node 20 a worker does not inherit the
 * TypeScript loader, so it registers one first.
 */
export function threadProgram(source: URL): string {
  const compiled = compiledOf(source)
  if (compiled !== undefined) return `import(${JSON.stringify(compiled)})`
  return `import('tsx/esm/api').then(({ register }) => {
  register()
  return import(${JSON.stringify(source.href)})
})`
}
