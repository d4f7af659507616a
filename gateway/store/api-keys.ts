/** The API keys, stored as hashes. */

import { isId } from '../../shared/ids.ts'
import { ACCOUNT_COLUMNS } from './accounts.ts'
import { isPostgres, type Store } from './database.ts'
import { deletePageSessionsOf } from './page-sessions.ts'
import type { ApiKeyRow } from './schema/tables.ts'

/** The columns of a key that limit it; null where its account's limits apply. */
type KeyLimits = 'own_calls_per_minute' | 'own_priority'

export type NewApiKeyRow = Omit<ApiKeyRow, 'last_used_at' | KeyLimits> &
  Partial<Pick<ApiKeyRow, KeyLimits>>

const NO_LIMITS = { own_calls_per_minute: null, own_priority: null }

/** Stores a key, replacing the one with the same id if there is one. */
export async function putApiKey(store: Store, { key_id, ...rest }: NewApiKeyRow): Promise<void> {
  await store
    .insertInto('api_keys')
    .values({ ...NO_LIMITS, key_id, ...rest, last_used_at: null })
    .onConflict((conflict) => conflict.column('key_id').doUpdateSet(rest))
    .execute()
}

/** A key, with what a call needs to know about its account. */
export type KeyWithAccount = Awaited<ReturnType<typeof findApiKeys>>[number]

/** @param keyIds any texts, as a client may have sent them */
export async function findApiKeys(store: Store, keyIds: readonly string[]) {
  const ids = keyIds.filter(isId)
  if (ids.length === 0) return []
  return store
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.account_id', 'api_keys.account_id')
    .selectAll('api_keys')
    .select(ACCOUNT_COLUMNS)
    .where('key_id', 'in', ids)
    .execute()
}

/** Deletes the keys of an account with their page sessions; returns their ids. */
export async function deleteApiKeys(store: Store, accountId: string): Promise<string[]> {
  const keys = await store
    .selectFrom('api_keys')
    .select('key_id')
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('key_id')
    .$if(isPostgres(store), (query) => query.forUpdate()) // a session could be added until then
    .execute()
  await deletePageSessionsOf(store, accountId)
  await store.deleteFrom('api_keys').where('account_id', '=', accountId).execute()
  return keys.map(({ key_id: keyId }) => keyId)
}

/** Returns all keys, or those of one account, oldest first. */
export const listApiKeys = (store: Store, accountId?: string): Promise<ApiKeyRow[]> =>
  store
    .selectFrom('api_keys')
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()

/** Returns the keys of an account that have not ended by `time`, oldest first. */
export const listKeysSince = (store: Store, accountId: string, time: string) =>
  store
    .selectFrom('api_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where(({ eb, or }) => or([eb('revoked_at', 'is', null), eb('revoked_at', '>', time)]))
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', time)]))
    .orderBy('created_at')
    .orderBy('key_id')
    .execute()

/** Changes a key. Returns false if there is none with this id. */
export async function updateApiKey(
  store: Store,
  keyId: string,
  change: Partial<Pick<ApiKeyRow, 'key_hash' | 'revoked_at' | KeyLimits>>,
): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('api_keys')
    .set(change)
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Stores when a key was used, unless another gateway has stored a later use. */
export async function noteKeyUse(store: Store, keyId: string, at: string): Promise<void> {
  await store
    .updateTable('api_keys')
    .set({ last_used_at: at })
    .where('key_id', '=', keyId)
    .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', at)]))
    .execute()
}

export async function hasApiKeys(store: Store): Promise<boolean> {
  const key = await store.selectFrom('api_keys').select('key_id').limit(1).executeTakeFirst()
  return key !== undefined
}
