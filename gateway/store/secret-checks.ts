/** Sealed texts that the keys of every gateway must open: one with other keys is found out. */

import type { Store } from './database.ts'

/** Keeps `sealed` unless there is a text of this id already; answers the one that is there. */
export async function keepSecretCheck(
  store: Store,
  checkId: string,
  sealed: string,
): Promise<string> {
  await store
    .insertInto('secret_checks')
    .values({ check_id: checkId, sealed })
    .onConflict((conflict) => conflict.column('check_id').doNothing())
    .execute()
  const kept = await store
    .selectFrom('secret_checks')
    .select('sealed')
    .where('check_id', '=', checkId)
    .executeTakeFirstOrThrow()
  return kept.sealed
}

/** Puts `sealed` in the place of the text that is there. */
export async function replaceSecretCheck(
  store: Store,
  checkId: string,
  sealed: string,
): Promise<void> {
  await store.updateTable('secret_checks').set({ sealed }).where('check_id', '=', checkId).execute()
}
