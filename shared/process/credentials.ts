/** Settings given as credentials of systemd: files that this process alone may read. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** `LoadCredential=winnow:<folder>` hands over every file of the folder under such a name. */
const CREDENTIAL = /^winnow_([A-Z][A-Z0-9_]*)$/

/**
 * `env` with the setting NAME from each credential `winnow_NAME`, which has precedence.
 * @throws Error where a credential can't be read
 */
export function withCredentials(env: Environment): Environment {
  const { CREDENTIALS_DIRECTORY: folder } = env
  if (!folder) return env
  const settings = readdirSync(folder).flatMap((file): [string, string][] => {
    const name = CREDENTIAL.exec(file)?.[1]
    return name ? [[name, readFileSync(join(folder, file), 'utf8').trim()]] : []
  })
  return { ...env, ...Object.fromEntries(settings) }
}
