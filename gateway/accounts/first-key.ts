/** The API key that exists after the first start. */

import { hostname } from 'node:os'
import { join } from 'node:path'
import { readOrMake } from '../secrets.ts'
import { DEFAULT_ACCOUNT, ensureAccount } from '../store/accounts.ts'
import { findApiKeys, hasApiKeys, putApiKey, updateApiKey } from '../store/api-keys.ts'
import { addChange } from '../store/changes.ts'
import { inTransaction, type Store } from '../store/database.ts'
import type { ChangeRow } from '../store/schema/tables.ts'
import { BOOTSTRAP_KEY_ID, hashApiKey, keyIdOf, newApiKey, newKeyId, SCOPES } from './auth.ts'

interface FirstKeyOptions {
  dataFolder: string
  /**
   * A key that the admin has set. Without it, the first start makes one and writes it to the file
   * `api-key`.
   */
  bootstrapApiKey: string | undefined
  now: string
}

/** Makes sure that a key with every scope exists after the first start. */
export async function ensureFirstApiKey(store: Store, options: FirstKeyOptions): Promise<void> {
  const { dataFolder, bootstrapApiKey, now } = options
  await ensureAccount(store, { ...DEFAULT_ACCOUNT, created_at: now })
  if (bootstrapApiKey !== undefined) {
    return inTransaction(store, (store) => putBootstrapKey(store, bootstrapApiKey, now))
  }
  if (await hasApiKeys(store)) return
  // The file is written first, because a key that is stored but was never shown could not be used.
  const key = await readOrMake(join(dataFolder, 'api-key'), () => newApiKey(newKeyId()))
  await inTransaction(store, (store) => putKey(store, keyIdOf(key) ?? BOOTSTRAP_KEY_ID, key, now))
}

/**
 * Stores the key that the admin has set, in place of the one set before. If it is a key that
 * already has an id of its own, such as the one that the first start made, only the one set before
 * is revoked.
 */
async function putBootstrapKey(store: Store, key: string, now: string): Promise<void> {
  const keys = await findApiKeys(store, [keyIdOf(key) ?? '', BOOTSTRAP_KEY_ID])
  const storedKey = keys.find(({ key_hash: hash }) => hash === hashApiKey(key))
  if (!storedKey || storedKey.key_id === BOOTSTRAP_KEY_ID)
    return putKey(store, BOOTSTRAP_KEY_ID, key, now)
  const replaced = keys.find(({ key_id: id }) => id === BOOTSTRAP_KEY_ID)
  if (replaced?.revoked_at !== null) return
  await updateApiKey(store, BOOTSTRAP_KEY_ID, { revoked_at: now })
  await record(store, 'key.revoke', BOOTSTRAP_KEY_ID, now)
}

async function putKey(store: Store, keyId: string, key: string, now: string): Promise<void> {
  const hash = hashApiKey(key)
  const [storedKey] = await findApiKeys(store, [keyId])
  if (storedKey?.key_hash === hash && storedKey.revoked_at === null) return
  await putApiKey(store, {
    key_id: keyId,
    account_id: DEFAULT_ACCOUNT.account_id,
    name: 'First key',
    key_hash: hash,
    scopes: JSON.stringify(SCOPES),
    created_at: now,
    expires_at: null,
    revoked_at: null,
  })
  const action = storedKey?.key_hash === hash ? 'key.restore' : 'key.rotate'
  await record(store, storedKey ? action : 'key.create', keyId, now)
}

const record = (store: Store, action: ChangeRow['action'], keyId: string, now: string) =>
  addChange(store, {
    created_at: now,
    tool: 'gateway',
    origin: hostname(),
    action,
    account_id: DEFAULT_ACCOUNT.account_id,
    key_id: keyId,
    details: {},
  })
