// Compiles files of tests, as scripts/setup/programs.mjs compiles the programs: on Node 20 each of
// them starts a second sooner than by tsx.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { removeLeftovers, RUNTIME } from '../../setup/files.mjs'
import { compiledName, optionsFor, PROGRAMS } from '../../setup/programs.mjs'

/** Those of runs that were killed go after this time. */
const LEFTOVER_MS = 24 * 3_600_000

/** Files that start no program of ours: compiling those would take most of the time of one file. */
const STARTS_NONE = /^test\/(unit\/|tidy[.])/

/**
 * @param files paths from the root of the checkout
 * @returns the compiled files, in a folder that `remove` removes
 * @throws Error what is wrong in a file
 */
export async function compileTests(files) {
  const parent = join(RUNTIME, 'tests')
  mkdirSync(parent, { recursive: true })
  removeLeftovers(parent, 'run-', LEFTOVER_MS)
  const folder = mkdtempSync(join(parent, 'run-'))
  const remove = () => rmSync(folder, { recursive: true })
  const programs = files.every((file) => STARTS_NONE.test(file)) ? [] : PROGRAMS
  try {
    await build({ ...optionsFor(folder, [...files, ...programs]), logLevel: 'error' })
  } catch (error) {
    remove()
    throw error
  }
  return { files: files.map((file) => join(folder, compiledName(file))), remove }
}
