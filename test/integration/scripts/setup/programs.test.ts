/**
 * Programs run compiled from the current sources, or directly from the sources where compiling is
 * impossible.
 */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PROGRAMS } from '../../../../scripts/setup/programs.mjs'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const SETUP = ['scripts/run.mjs', 'scripts/setup/programs.mjs', 'scripts/setup/files.mjs']
/**
 * Prints whether it runs compiled, what it imports, its arguments, and a file next to its source.
 */
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { word } from '../shared/word.ts'
const beside: string = readFileSync(new URL('beside.txt', import.meta.url), 'utf8')
console.log(import.meta.filename.endsWith('.mjs'), word, ...process.argv.slice(2), beside)
`

/** Makes a checkout in which a single program does anything. */
function makeCheckout(t: TestContext) {
  const folder = temporaryFolder(t)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const path of SETUP) cpSync(join(ROOT, path), join(folder, path))
  for (const path of PROGRAMS) write(path, '')
  write('package.json', '{"type":"module"}')
  write('gateway/main.ts', PROGRAM)
  write('gateway/beside.txt', 'beside')
  write('shared/word.ts', "export const word: string = 'one'")
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const run = () => {
    const words = [join(folder, 'scripts/run.mjs'), join(folder, 'gateway/main.ts'), 'an argument']
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    return (stderr + stdout).trim()
  }
  return { folder, write, run }
}

test('a program runs compiled, and is compiled again when a file that it imports changes', (t) => {
  const { write, run } = makeCheckout(t)
  assert.equal(run(), 'true one an argument beside')
  assert.equal(run(), 'true one an argument beside')
  write('shared/word.ts', "export const word: string = 'two'")
  assert.equal(run(), 'true two an argument beside')
})

test('sources run if nothing can be written, or if another program is broken', (t) => {
  const { folder, write, run } = makeCheckout(t)
  write('.runtime', 'no folder')
  assert.match(run(), /uncompiled, which starts slower: ENOTDIR[^]*\nfalse one an argument beside$/)
  rmSync(join(folder, '.runtime'))
  write('engine/main.ts', 'this is not TypeScript')
  assert.match(run(), /Expected ";"[^]*\nfalse one an argument beside$/)
  write('shared/word.ts', 'export const word = ')
  assert.match(run(), /word\.ts:1:\d+: ERROR: Unexpected end of file/)
})

test('every program that another starts as a process or a thread is compiled', () => {
  const sources = ['engine', 'gateway', 'scripts/cli'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((name) => join(folder, String(name)))
      .filter((path) => path.endsWith('.ts')),
  )
  const started = sources.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/new URL\('([^']+\.ts)'/g)].map(([, to]) =>
      relative(ROOT, join(ROOT, dirname(path), to!)),
    ),
  )
  assert.ok(started.length >= 7)
  const missing = started.filter((path) => !PROGRAMS.includes(path))
  assert.deepEqual(missing, [])
})
