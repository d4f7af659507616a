/**
 * Tells how one of our programs starts another, as a process or a thread. A compiled program
 * (scripts/setup/programs.mjs) starts the compiled one next to it. A program that runs from source
 * starts sources, which tsx compiles.
 */

import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of the compiled programs, seen from one of them. */
const COMPILED = import.meta.filename.endsWith('.mjs') ? import.meta.dirname : undefined

/** Returns the compiled program for a source, if there is one next to this one. */
function compiledOf(source: URL): string | undefined {
  if (COMPILED === undefined) return undefined
  const name = relative(ROOT, fileURLToPath(source)).replaceAll('/', '.')
  const path = join(COMPILED, name.replace(/ts$/, 'mjs'))
  return existsSync(path) ? path : undefined
}

/** Returns the arguments with which node runs a program. */
export function programArguments(source: URL): string[] {
  const compiled = compiledOf(source)
  if (compiled !== undefined) return [compiled]
  return ['--import', import.meta.resolve('tsx'), fileURLToPath(source)]
}

/** Returns how many threads of that process run JavaScript; on Node 20, tsx has its own. */
export const programThreads = (source: URL): number => (compiledOf(source) === undefined ? 2 : 1)

/** The parts of the models that processes reading media use, which load nothing else. */
const LIGHT_MODELS = ['models/lanes/channel-rows.ts', 'models/lanes/level.ts']

/**
 * Returns what that process reads at the start, besides packages: files, and folders with
 * everything in them.
 */
export function programPlaces(source: URL): string[] {
  if (COMPILED !== undefined && compiledOf(source) !== undefined) return [COMPILED]
  return [
    dirname(fileURLToPath(source)),
    ...['engine', 'shared', 'tsconfig.json', ...LIGHT_MODELS].map((name) => join(ROOT, name)),
    `/tmp/tsx-${userInfo().uid}`, // tsx's cache, without TMPDIR
  ]
}

/**
 * Returns a worker thread's program as text to evaluate. On Node 20 a worker does not inherit the
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
