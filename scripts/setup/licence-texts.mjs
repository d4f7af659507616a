// The licences of packages that stand in a script for browsers, which ask to be passed on with it.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './files.mjs'

/** The packages of files by esbuild's names for them. */
export function packagesOf(inputs) {
  return inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
}

/** One text with the licence of each package; of one without a file, the licence's name. */
export function licenceTexts(names) {
  return [...new Set(names)].sort().map(licenceOf).join('\n\n')
}

function licenceOf(name) {
  const folder = join(ROOT, 'node_modules', name)
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
  if (file !== undefined) return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!license) throw new Error(`${name} names no licence.`)
  return `${name}\n\n${license}\n`
}
