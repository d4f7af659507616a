/**
 * Reads settings that are stored as files, one each: systemd credentials, which only this process
 * may read.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `LoadCredential=winnow:<folder>` passes every file of the folder with this prefix. */
const CREDENTIAL_PREFIX = 'winnow_'
const SETTING = /^[A-Z][A-Z0-9_]*$/

/**
 * Puts the setting NAME of each credential `winnow_NAME` into `env`, where it takes precedence, and
 * returns `env`. Libraries read their settings, such as a bucket's keys, from the process's own
 * environment.
 * @throws Error if a credential cannot be read
 */
export function takeCredentials(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { CREDENTIALS_DIRECTORY: folder } = env
  return folder ? Object.assign(env, settingsIn(folder, CREDENTIAL_PREFIX)) : env
}

/**
 * Returns a setting for each file of a folder whose name is `prefix` and the setting's name.
 * @throws Error if the folder or a file cannot be read
 */
export function settingsIn(folder: string, prefix = ''): Record<string, string> {
  const names = readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .map((file) => file.slice(prefix.length))
    .filter((name) => SETTING.test(name))
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(folder, prefix + name), 'utf8').trim()]),
  )
}
