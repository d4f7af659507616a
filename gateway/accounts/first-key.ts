/** The API key that exists after the first start. */

import { join } from 'node:path'
import { readOrMake } from '../secrets.ts'
import { DEFAULT_ACCOUNT, ensureAccount } from '../store/accounts.ts'
import { findApiKeys, hasApiKeys, putApiKey, updateApiKey } from '../store/api-keys.ts'
import type { Store } from '../store/database.ts'
import { BOOTSTRAP_KEY_ID, hashApiKey, keyIdOf, newApiKey, newKeyId, SCOPES } from './auth.ts'

interface FirstKeyOptions {
  dataFolder: string
  /** The operator's own key; without it one is made, once, and written to the file `api-key`. */
  bootstrapApiKey: string | undefined
  now: string
}

/** Makes sure that a key with every scope exists after the first start. */
export async function ensureFirstApiKey(store: Store, options: FirstKeyOptions): Promise<void> {
  const { dataFolder, bootstrapApiKey, now } = options
  await ensureAccount(store, { ...DEFAULT_ACCOUNT, created_at: now })
  const put = (keyId: string, key: string) =>
    putApiKey(store, {
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
    const ids = [keyIdOf(bootstrapApiKey) ?? '', BOOTSTRAP_KEY_ID]
    const keys = await findApiKeys(store, ids)
    const known = keys.find(({ key_hash: hash }) => hash === hashApiKey(bootstrapApiKey))
    if (!known || known.key_id === BOOTSTRAP_KEY_ID) return put(BOOTSTRAP_KEY_ID, bootstrapApiKey)
    const replaced = keys.find(({ key_id: id }) => id === BOOTSTRAP_KEY_ID)
    if (replaced?.revoked_at === null) {
      await updateApiKey(store, BOOTSTRAP_KEY_ID, { revoked_at: now })
    }
    return
  }
  if (await hasApiKeys(store)) return
  // The file is written first: a key that is stored but was never shown could not be used.
  const key = await readOrMake(join(dataFolder, 'api-key'), () => newApiKey(newKeyId()))
  return put(keyIdOf(key) ?? BOOTSTRAP_KEY_ID, key)
}
