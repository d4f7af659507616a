/** The owners of keys, files and requests. */

import type { Store } from './database.ts'
import type { AccountRow } from './tables.ts'

/** Makes the account unless it is there. */
export async function ensureAccount(store: Store, account: AccountRow): Promise<void> {
  await store.insertInto('accounts').values(account)
    .onConflict((conflict) => conflict.column('account_id').doNothing()).execute()
}
