// Paths of the files that set-up makes, and helpers for files.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
export const RUNTIME = join(ROOT, '.runtime')
export const CACHE =
  process.env.WINNOW_CACHE_DIR ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'winnow')

export function hashOf(data) {
  return createHash('sha256').update(data).digest('hex')
}

export async function hashOfFile(path) {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part)
  return hash.digest('hex')
}

export function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/**
 * Removes what interrupted runs left behind. In the cache, which other checkouts use too, only what
 * is older than `ageMsMin`.
 */
export function removeLeftovers(folder, prefix, ageMsMin) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (!name.startsWith(prefix) || ageMs(path) < ageMsMin) continue
    rmSync(path, { recursive: true, force: true })
  }
}

export function ageMs(path) {
  return existsSync(path) ? Date.now() - statSync(path).mtimeMs : 0
}
