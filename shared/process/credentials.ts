/** Reads settings from files that only this process may read: systemd credentials. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `LoadCredential=winnow:<folder>` passes every file of the folder with this prefix. */
const CREDENTIAL_PREFIX = 'winnow_'
const SETTING = /^[A-Z][A-Z0-9_]*$/

/**
 * Puts the setting NAME of each credential `winnow_NAME` into `env`, where libraries find it too.
 * @throws Error if a credential cannot be read
 */
export function takeCredentials(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { CREDENTIALS_DIRECTORY: folder } = env
  return folder ? Object.assign(env, settingsIn(folder, CREDENTIAL_PREFIX)) : env
}

/**
 * Returns a setting for each file called `prefix` and its name. @throws errors of the file system
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
