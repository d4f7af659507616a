/** Searches the logs of processes for secrets that they received, generated or issued. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Settings that are secrets, or contain one. */
const SECRET_SETTING = /KEY|TOKEN|SECRET|PASSWORD|NATS_URL|DATABASE_URL/

/** Formats of clients' secrets: of a webhook, a signed address, a key, a share, an admin. */
const FORMS = [
  /whsec_[A-Za-z0-9+/]{16,}/,
  /[?&](?:signature|X-Amz-Signature)=\w{16,}/,
  /\bsep_\w+_\w{16,}/,
  /\bshr_\w{16,}/,
  /\badm_[a-z]+_\w{16,}/,
  /\bBearer [\w-]{8,}/,
]

/**
 * Returns the lines of `log` that contain a secret, with the secret removed.
 * @param folder DATA_DIR of the process, with the key files that it generated
 * @param environment settings of the process
 */
export function linesWithSecrets(
  log: string,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const secrets = [...secretsOf(environment), ...keyFilesOf(folder)]
  return log.split('\n').flatMap((line) => {
    const found = secrets.find((secret) => line.includes(secret))
    const form = FORMS.find((each) => each.test(line))
    if (found !== undefined) return [line.replaceAll(found, '[the secret]')]
    return form === undefined ? [] : [`${form}: ${line.slice(0, 200)}`]
  })
}

/**
 * Returns the secret in a setting: the password in an address, or the token in place of its user.
 */
function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  const values = Object.entries(environment)
    .filter(([name]) => SECRET_SETTING.test(name) && !name.endsWith('_FILE'))
    .flatMap(([, value = '']) =>
      value.includes('://') ? value.split(',').flatMap(inAddress) : value,
    )
  return values.filter((value) => value.length >= 8)
}

function inAddress(address: string): string[] {
  const { username, password } = new URL(address)
  return [password || username].map(decodeURIComponent)
}

function keyFilesOf(folder: string): string[] {
  return ['signing-key', 'encryption-key', 'api-key', 'admin-token']
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8').trim())
}
