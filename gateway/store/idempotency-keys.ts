/** The stored answers of submits with an Idempotency-Key. */

import type { Store } from './database.ts'
import type { IdempotencyKeyRow } from './schema/tables.ts'

/**
 * Takes the key for `row`; false when another submit holds it and has not expired. In the
 * transaction that stores the request, so that only one of several can store both.
 */
export async function takeIdempotencyKey(
  store: Store,
  row: IdempotencyKeyRow,
  now: string,
): Promise<boolean> {
  const { account_id, idempotency_key, ...rest } = row
  const { numInsertedOrUpdatedRows } = await store
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'idempotency_key'])
        .doUpdateSet(rest)
        .where('idempotency_keys.expires_at', '<=', now),
    )
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** The row of the key, unless it has expired. */
export const findIdempotencyKey = (
  store: Store,
  accountId: string,
  key: string,
  now: string,
): Promise<IdempotencyKeyRow | undefined> =>
  store
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('idempotency_key', '=', key)
    .where('expires_at', '>', now)
    .executeTakeFirst()

export async function deleteExpiredIdempotencyKeys(store: Store, now: string): Promise<void> {
  await store.deleteFrom('idempotency_keys').where('expires_at', '<=', now).execute()
}
