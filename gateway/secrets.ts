/**
 * Reads the gateway's own keys, from files that only it may read, and encrypts small secrets with
 * them, so that the database alone does not reveal those. Each kind accepts two keys and uses the
 * first, so that one can replace another while gateways run.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { access, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../shared/process/lifecycle.ts'
import { writeWhole } from '../shared/write-whole.ts'
import type { Store } from './store/database.ts'
import { ensureSecretCheck, replaceSecretCheck } from './store/secret-checks.ts'

/** 32 bytes each, in base64url: the one that is used, then the other that is accepted, if any. */
export type Keys = readonly [used: string, accepted?: string]

export interface Secrets {
  /** Sign media addresses. */
  signingKeys: Keys
  /** Encrypt the secrets of webhooks and stored answers. */
  encryptionKeys: Keys
}

interface SecretSettings {
  dataFolder: string
  /** With it several gateways share a database, and must have the same keys. */
  databaseUrl: string | undefined
  signingKeyFile: string | undefined
  encryptionKeyFile: string | undefined
  /** systemd's folder for files of /etc/winnow/credentials/gateway: `winnow_` and their names. */
  credentialsFolder: string | undefined
}

const KEY_BYTES = 32
const KEYS_MAX = 2
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * The kinds of keys: the setting that names their file, its usual name, and its field in the old
 * file.
 */
const KINDS = {
  signing: { setting: 'SIGNING_KEY_FILE', file: 'signing-key', field: 'signing_key' },
  encryption: { setting: 'ENCRYPTION_KEY_FILE', file: 'encryption-key', field: 'sealing_key' },
} as const

type Kind = keyof typeof KINDS

/**
 * Returns the keys in the files that the settings name. If none is named and there is no
 * DATABASE_URL, the gateway makes its own in `dataFolder`.
 * @throws StartError if a file is missing or holds something else
 */
export async function readSecrets(settings: SecretSettings): Promise<Secrets> {
  const { signingKeyFile, encryptionKeyFile, dataFolder } = settings
  const signingKeys = await readKeys('signing', signingKeyFile, settings)
  const encryptionKeys = await readKeys('encryption', encryptionKeyFile, settings)
  // Earlier versions kept both keys in this file.
  await rm(join(dataFolder, OLD_FILE), { force: true })
  return { signingKeys, encryptionKeys }
}

async function readKeys(
  kind: Kind,
  named: string | undefined,
  { credentialsFolder, databaseUrl, dataFolder }: SecretSettings,
): Promise<Keys> {
  const { setting, file } = KINDS[kind]
  if (named !== undefined) return keysIn(await readNamed(setting, named), setting)
  const credential = join(credentialsFolder ?? '', `winnow_${file}`)
  if (credentialsFolder !== undefined && (await isThere(credential))) {
    return keysIn(await readNamed(setting, credential), credential)
  }
  if (databaseUrl === undefined) return ownKeys(kind, dataFolder)
  throw new StartError(
    `${setting} must name a file: with DATABASE_URL several gateways may share a database, and ` +
      `all of them need the same key. Make one with: openssl rand -base64 ${KEY_BYTES}`,
  )
}

async function readNamed(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new StartError(`${setting}: ${(cause as Error).message}`, { cause })
  }
}

/** @throws StartError which does not show what is in the file */
function keysIn(text: string, where: string): Keys {
  const lines = text.split('\n').map((line) => line.trim())
  const keys = lines.filter(Boolean).map((line) => Buffer.from(line, 'base64')) // base64url, too
  const [used, accepted] = keys.map((key) => key.toString('base64url'))
  const areKeys = keys.every((key) => key.length === KEY_BYTES)
  if (used !== undefined && areKeys && keys.length <= KEYS_MAX) {
    return accepted === undefined ? [used] : [used, accepted]
  }
  throw new StartError(
    `${where} must hold one or two keys, each of ${KEY_BYTES} bytes in base64 on a line of its ` +
      `own, as openssl rand -base64 ${KEY_BYTES} makes them.`,
  )
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

const OLD_FILE = 'secrets.json'

async function ownKeys(kind: Kind, dataFolder: string): Promise<Keys> {
  const path = join(dataFolder, KINDS[kind].file)
  const old = await oldKey(kind, dataFolder)
  return keysIn(await readOrMake(path, () => old ?? newKey()), path)
}

/** Returns the key that an earlier version has made, or undefined if there is none. */
async function oldKey(kind: Kind, dataFolder: string): Promise<string | undefined> {
  const path = join(dataFolder, OLD_FILE)
  if (!(await isThere(path))) return undefined
  const { field } = KINDS[kind]
  const key = (JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>)[field]
  if (key === undefined && kind === 'encryption') return undefined // older than webhooks
  return keysIn(String(key), `${field} in ${path}`)[0]
}

const newKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/**
 * Checks that the keys are those of the other gateways on the database.
 * @throws StartError if they are not
 */
export async function assertSameSecrets(store: Store, { signingKeys, encryptionKeys }: Secrets) {
  for (const [kind, keys] of [
    ['signing', signingKeys],
    ['encryption', encryptionKeys],
  ] as const) {
    const encrypted = await ensureSecretCheck(store, kind, encrypt(keys, kind, CHECKED))
    if (!decrypts(keys, kind, encrypted)) {
      throw new StartError(
        `${KINDS[kind].setting}: none of its keys is the one that gateways on this database use. ` +
          'Give all of them the same file; to replace a key, first add the new one as the second.',
      )
    }
    const [used] = keys
    if (!decrypts([used], kind, encrypted)) {
      await replaceSecretCheck(store, kind, encrypt(keys, kind, CHECKED))
    }
  }
}

const CHECKED = 'winnow'

function decrypts(keys: Keys, owner: string, encrypted: string): boolean {
  try {
    return decrypt(keys, owner, encrypted) === CHECKED
  } catch {
    return false
  }
}

/** Returns the text of the file. If there is no file, writes what `make` returns. */
export async function readOrMake(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const text = make()
  await writeWhole(path, `${text}\n`, 0o600)
  return text
}

/**
 * Encrypts `text` with the first key.
 * @param owner the id of the row that stores the text, which can be decrypted only for the same
 *   owner
 */
export function encrypt([key]: Keys, owner: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce).setAAD(
    Buffer.from(owner),
  )
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64url')
}

/**
 * Returns the decrypted text.
 * @throws Error if keys, owner or text are not those of the encryption
 */
export function decrypt([used, accepted]: Keys, owner: string, encrypted: string): string {
  try {
    return decryptWith(used, owner, encrypted)
  } catch (error) {
    if (accepted === undefined) throw error
    return decryptWith(accepted, owner, encrypted)
  }
}

function decryptWith(key: string, owner: string, encrypted: string): string {
  const bytes = Buffer.from(encrypted, 'base64url')
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(-TAG_BYTES)]
  const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce, {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(owner))
    .setAuthTag(tag)
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
  return text + decipher.final('utf8')
}
