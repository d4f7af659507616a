// Addons that a package brings compiled, so that set-up needs no compiler where they fit.

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf, readText } from './files.mjs'

/** Name of the list in its folder: the SHA-256 of each addon, whose file is named by its key. */
const LIST = 'sha256.json'

/**
 * Lays compiled addons into `folder`.
 * @param addons the path of each, by its key
 */
export function layPrebuilt(folder, addons) {
  mkdirSync(folder, { recursive: true })
  const hashes = Object.entries(addons).map(([key, path]) => {
    copyFileSync(path, join(folder, `${key}.node`))
    return [key, hashOf(readFileSync(path))]
  })
  writeFileSync(join(folder, LIST), `${JSON.stringify(Object.fromEntries(hashes), null, 2)}\n`)
}

/** The path of the addon with this key; undefined: there is none, or its hash is another. */
export function findPrebuilt(folder, key) {
  const { [key]: hash } = JSON.parse(readText(join(folder, LIST)) || '{}')
  const path = join(folder, `${key}.node`)
  if (hash === undefined || !existsSync(path)) return undefined
  return hashOf(readFileSync(path)) === hash ? path : undefined
}
