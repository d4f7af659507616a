/**
 * The page's sessions, and the one-time codes that open them, stored as hashes of their secrets.
 */

import { ACCOUNT_COLUMNS } from './accounts.ts'
import type { Store } from './database.ts'
import type { PageSessionRow } from './schema/tables.ts'

/** Rows kept for each key and kind; beyond that the oldest ends. */
const ROWS_MAX = 100

/** Stores a code or a session, and removes the key's oldest ones if it has too many. */
export async function putPageSession(store: Store, row: PageSessionRow): Promise<void> {
  const { key_id, kind } = row
  await store.insertInto('page_sessions').values(row).execute()
  const newest = store
    .selectFrom('page_sessions')
    .select('secret_hash')
    .where('key_id', '=', key_id)
    .where('kind', '=', kind)
    .orderBy('expires_at', 'desc')
    .orderBy('secret_hash')
    .limit(ROWS_MAX)
  await store
    .deleteFrom('page_sessions')
    .where('key_id', '=', key_id)
    .where('kind', '=', kind)
    .where('secret_hash', 'not in', newest)
    .execute()
}

type Kind = PageSessionRow['kind']

/**
 * Returns the session or code with this hash, together with its key. Finds none if the key has
 * another secret by now, or if its account is disabled.
 * @param now a time that the session or code must outlast
 */
export const findPageSession = (store: Store, kind: Kind, hash: string, now: string) =>
  store
    .selectFrom('page_sessions')
    .innerJoin('api_keys', 'api_keys.key_hash', 'page_sessions.key_hash')
    .innerJoin('accounts', 'accounts.account_id', 'api_keys.account_id')
    .selectAll('api_keys')
    .select(ACCOUNT_COLUMNS)
    .select('page_sessions.expires_at as session_expires_at')
    .where('secret_hash', '=', hash)
    .where('kind', '=', kind)
    .where('page_sessions.expires_at', '>', now)
    .where('accounts.disabled_at', 'is', null)
    .executeTakeFirst()

/**
 * Removes a session or code. Returns false if it was not there; of two concurrent callers one gets
 * true.
 */
export async function deletePageSession(store: Store, kind: Kind, hash: string): Promise<boolean> {
  const { numDeletedRows } = await store
    .deleteFrom('page_sessions')
    .where('secret_hash', '=', hash)
    .where('kind', '=', kind)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export async function deletePageSessionsOf(store: Store, accountId: string): Promise<void> {
  const keys = store.selectFrom('api_keys').select('key_id').where('account_id', '=', accountId)
  await store.deleteFrom('page_sessions').where('key_id', 'in', keys).execute()
}

export async function deleteExpiredPageSessions(store: Store, now: string): Promise<void> {
  await store.deleteFrom('page_sessions').where('expires_at', '<=', now).execute()
}
