// Collects the licences of packages bundled into scripts for browsers, since they require that
// their text is passed on.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './files.mjs'

/** Returns the packages that esbuild's input files belong to. */
export function packagesOf(inputs) {
  return inputs.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
}

/**
 * Joins the licence texts of packages; a package without a licence file gets the name of its
 * licence.
 */
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
