// Stores and finds the addons that a package brings prebuilt, so that set-up needs no compiler
// where they fit.

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf, readText } from './files.mjs'

/** File with the SHA-256 of each addon by its key. An addon's file is named by its key. */
const LIST = 'sha256.json'

/**
 * Copies compiled addons into `folder`, and lists their hashes.
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

/** Returns the path of the addon with this key; undefined if there is none or its hash is wrong. */
export function findPrebuilt(folder, key) {
  const { [key]: hash } = JSON.parse(readText(join(folder, LIST)) || '{}')
  const path = join(folder, `${key}.node`)
  if (hash === undefined || !existsSync(path)) return undefined
  return hashOf(readFileSync(path)) === hash ? path : undefined
}
