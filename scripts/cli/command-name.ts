/**
 * Knows how this installation's commands are called: with npm in a checkout, as `winnow` in a
 * package.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Set by the command of a package (winnow.mjs): `winnow` or `npx winnow`. */
const PACKAGED = process.env.WINNOW_PACKAGED
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Whether this was installed by a package. */
export const isPackaged = PACKAGED !== undefined

/** @param packaged how a package's command is called; undefined for a checkout */
export function commandText(command: string, words = '', packaged = PACKAGED): string {
  if (packaged === undefined) return calledInCheckout(command, words)
  return [packaged, command, words].filter(Boolean).join(' ')
}

function calledInCheckout(command: string, words: string): string {
  if (command === 'start') return 'npm start'
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>
  }
  const isScript = Object.hasOwn(scripts, command)
  const named = isScript ? `npm run ${command}` : `npm run winnow -- ${command}`
  return [named, ...(words === '' ? [] : isScript ? ['--', words] : [words])].join(' ')
}

/** Explains how to repair the installation, or how to get the `other` build. */
export function setUpAgain(other?: 'cpu' | 'cuda', packaged = PACKAGED): string {
  const setting = other === undefined ? '' : `WINNOW_COMPUTE=${other} `
  if (packaged === undefined) return `Run ${setting}npm run setup.`
  if (packaged === 'winnow') {
    const build = other === undefined ? '' : `, made with --compute ${other}`
    return `Install the package again, or load the image again${build}.`
  }
  const again = `${setting}${commandText('doctor', '', packaged)}`
  return other === undefined ? `Remove ${ROOT} and run ${again}.` : `Run ${again}.`
}
