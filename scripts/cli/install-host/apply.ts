/** Carries out a plan, or shows what it would do. */

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Step } from './plan.ts'

export interface Place {
  /** Prefix of every path; empty for the host itself. */
  root: string
  dryRun: boolean
  say(line: string): void
}

/**
 * Applies the steps in order.
 * @throws Error of the step that fails. The steps before it stay done, and the next run keeps them
 */
export function apply(steps: readonly Step[], place: Place): void {
  for (const step of steps) {
    if (step.do === 'folder') makeFolder(step, place)
    else if (step.do === 'file') writeWhole(step, place)
    else if (step.do === 'remove') remove(step, place)
    else run(step, place)
  }
}

type Of<Kind extends Step['do']> = Extract<Step, { do: Kind }>

function makeFolder({ path, mode }: Of<'folder'>, { root, dryRun, say }: Place): void {
  const target = join(root, path)
  if (existsSync(target)) return say(`exists      ${path}`)
  say(`${dryRun ? 'would make ' : 'makes      '} ${path} (${octal(mode)})`)
  if (dryRun) return
  mkdirSync(target, { recursive: true })
  chmodSync(target, mode)
}

function writeWhole({ path, mode, text, keep }: Of<'file'>, { root, dryRun, say }: Place): void {
  const target = join(root, path)
  if (existsSync(target)) {
    if (keep) return say(`keeps       ${path}`)
    const isSame = readFileSync(target, 'utf8') === text && (statSync(target).mode & 0o777) === mode
    if (isSame) return say(`unchanged   ${path}`)
  }
  say(`${dryRun ? 'would write' : 'writes     '} ${path} (${octal(mode)})`)
  if (dryRun) return
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text, { mode })
  chmodSync(target, mode) // an existing file keeps its mode when it is written
}

function remove({ path }: Of<'remove'>, { root, dryRun, say }: Place): void {
  if (!existsSync(join(root, path))) return
  say(`${dryRun ? 'would remove' : 'removes     '}${path}`)
  if (!dryRun) rmSync(join(root, path))
}

function run({ words, online }: Of<'run'>, { root, dryRun, say }: Place): void {
  if (online && root !== '') return
  const [command = '', ...rest] = words
  const line = [command, ...(root === '' ? [] : [`--root=${root}`]), ...rest]
  say(`${dryRun ? 'would run  ' : 'runs       '} ${line.join(' ')}`)
  if (!dryRun) execFileSync(line[0]!, line.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] })
}

const octal = (mode: number): string => mode.toString(8).padStart(4, '0')
