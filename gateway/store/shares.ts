/** Addresses that play one result without a key, stored as hashes of their secrets. */

import { isId } from '../../shared/ids.ts'
import type { Store } from './database.ts'
import type { ShareRow } from './schema/tables.ts'

export async function insertShare(store: Store, row: ShareRow): Promise<void> {
  await store.insertInto('shares').values(row).execute()
}

/** Returns the shares of an account that have not expired by `now`, newest first. */
export const listShares = (store: Store, accountId: string, now: string): Promise<ShareRow[]> =>
  store
    .selectFrom('shares')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('share_id', 'desc')
    .execute()

/** Returns the share with this hash; none once it has expired, or while its account is disabled. */
export const findShare = (store: Store, hash: string, now: string): Promise<ShareRow | undefined> =>
  store
    .selectFrom('shares')
    .innerJoin('accounts', 'accounts.account_id', 'shares.account_id')
    .selectAll('shares')
    .where('secret_hash', '=', hash)
    .where('expires_at', '>', now)
    .where('accounts.disabled_at', 'is', null)
    .executeTakeFirst()

/** Deletes a share of the account. Returns undefined if it has none with this id. */
export async function deleteShare(store: Store, accountId: string, shareId: string) {
  if (!isId(shareId)) return undefined
  return store
    .deleteFrom('shares')
    .where('share_id', '=', shareId)
    .where('account_id', '=', accountId)
    .returningAll()
    .executeTakeFirst()
}

export async function deleteExpiredShares(store: Store, now: string): Promise<void> {
  await store.deleteFrom('shares').where('expires_at', '<=', now).execute()
}
