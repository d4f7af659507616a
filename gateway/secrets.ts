/** The secrets that a gateway makes at its first start, in files that only it may read. */

import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from './store/database.ts'
import { DEFAULT_ACCOUNT, ensureAccount } from './store/accounts.ts'
import { findApiKeys, hasApiKeys, putApiKey } from './store/api-keys.ts'
import {
  BOOTSTRAP_KEY_ID, hashApiKey, keyIdOf, newApiKey, newKeyId, SCOPES,
} from './accounts/auth.ts'

interface Keys {
  /** Signs media addresses. */
  signingKey: string
  /** Seals the secrets of webhooks: 32 bytes in base64url. */
  sealingKey: string
}

const KEY_BYTES = 32

/** The gateway's own keys, made where there are none. */
export async function readKeys(dataFolder: string): Promise<Keys> {
  const path = join(dataFolder, 'secrets.json')
  const made = () => JSON.stringify({ signing_key: newKey(), sealing_key: newKey() })
  let keys = JSON.parse(await readOrMake(path, made)) as Record<string, unknown>
  if (keys.sealing_key === undefined) { // the file is older than webhooks
    keys = { ...keys, sealing_key: newKey() }
    await writeWhole(path, JSON.stringify(keys))
  }
  const { signing_key: signingKey, sealing_key: sealingKey } = keys
  if (typeof signingKey !== 'string' || signingKey.length < KEY_BYTES) {
    throw new Error(`${path} holds no signing_key`)
  }
  const isSealingKey = typeof sealingKey === 'string' &&
    Buffer.from(sealingKey, 'base64url').length === KEY_BYTES
  if (!isSealingKey) throw new Error(`${path} holds no sealing_key`)
  return { signingKey, sealingKey }
}

const newKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

interface FirstKeyOptions {
  dataFolder: string
  /** The operator's own key; without it one is made, once, and left in the file `api-key`. */
  bootstrapApiKey: string | undefined
  now: string
}

/** After the first start somebody can use the API: there is a key with every scope. */
export async function ensureFirstApiKey(store: Store, options: FirstKeyOptions): Promise<void> {
  const { dataFolder, bootstrapApiKey, now } = options
  await ensureAccount(store, { ...DEFAULT_ACCOUNT, created_at: now })
  const put = (keyId: string, key: string) => putApiKey(store, {
    key_id: keyId,
    account_id: DEFAULT_ACCOUNT.account_id,
    name: 'First key',
    key_hash: hashApiKey(key),
    scopes: JSON.stringify(SCOPES),
    created_at: now,
    expires_at: null,
    revoked_at: null,
  })
  if (bootstrapApiKey !== undefined) {
    // An operator may set the key that an earlier start made: it is there under its own id.
    const [known] = await findApiKeys(store, [keyIdOf(bootstrapApiKey) ?? ''])
    if (known?.key_hash === hashApiKey(bootstrapApiKey)) return
    return put(BOOTSTRAP_KEY_ID, bootstrapApiKey)
  }
  if (await hasApiKeys(store)) return
  // The file comes first: a key that is stored but was never shown would lock everybody out.
  const key = await readOrMake(join(dataFolder, 'api-key'), () => newApiKey(newKeyId()))
  return put(keyIdOf(key) ?? BOOTSTRAP_KEY_ID, key)
}

/** The text of the file; where there is none, what `make` returns, which is then in the file. */
async function readOrMake(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const text = make()
  await writeWhole(path, text)
  return text
}

/** Writes the file all at once: whoever reads it meanwhile finds the one or the other text. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}
