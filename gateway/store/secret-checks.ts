/**
 * Encrypted texts that the keys of every gateway must open, so that a gateway with other keys is
 * noticed.
 */

import type { Store } from './database.ts'

/** Stores `sealed` unless there is a text with this id already. Returns the text that is stored. */
export async function ensureSecretCheck(store: Store, checkId: string, sealed: string) {
  await store
    .insertInto('secret_checks')
    .values({ check_id: checkId, sealed })
    .onConflict((conflict) => conflict.column('check_id').doNothing())
    .execute()
  const row = await store
    .selectFrom('secret_checks')
    .select('sealed')
    .where('check_id', '=', checkId)
    .executeTakeFirstOrThrow()
  return row.sealed
}

export async function replaceSecretCheck(store: Store, checkId: string, sealed: string) {
  await store.updateTable('secret_checks').set({ sealed }).where('check_id', '=', checkId).execute()
}
