/** The owners of keys, files and requests. */

import { isId } from '../../shared/ids.ts'
import type { Store } from './database.ts'
import type { AccountRow } from './tables.ts'

/** The account of the first key, and of keys made for no other. */
export const DEFAULT_ACCOUNT = { account_id: 'default', name: 'Default' }

type NewAccount = Pick<AccountRow, 'account_id' | 'name' | 'created_at'> & Partial<AccountRow>

/** Makes the account unless it is there; unmetered unless it says otherwise. */
export async function ensureAccount(store: Store, account: NewAccount): Promise<void> {
  await store
    .insertInto('accounts')
    .values({ metered: 0, balance_seconds: 0, reserved_seconds: 0, ...account })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute()
}

/** @param accountId any text that an operator may have given */
export async function findAccount(
  store: Store,
  accountId: string,
): Promise<AccountRow | undefined> {
  if (!isId(accountId)) return undefined
  return store
    .selectFrom('accounts')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst()
}

/** All accounts, oldest first. */
export const listAccounts = (store: Store): Promise<AccountRow[]> =>
  store.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('account_id').execute()
