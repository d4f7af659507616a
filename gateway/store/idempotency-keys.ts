/** The stored answers of submits with an Idempotency-Key. */

import type { Store } from './database.ts'
import type { IdempotencyKeyRow } from './schema/tables.ts'

/** Replaces the answer once the request that was submitted is deleted. */
export const NO_ANSWER = ''

/**
 * Takes the key for `row`. Returns false if another submit has taken it and it has not expired.
 * Call it in the transaction that stores the request, so that only one of several submits stores
 * both.
 */
export async function takeIdempotencyKey(store: Store, row: IdempotencyKeyRow, now: string) {
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

/** Returns the row of the key, unless it has expired. */
export const findIdempotencyKey = (store: Store, accountId: string, key: string, now: string) =>
  store
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('idempotency_key', '=', key)
    .where('expires_at', '>', now)
    .executeTakeFirst()

/**
 * Forgets the answer to the submit of a request that is deleted, but not its key, because a
 * repeated submit must not run again what was deleted.
 */
export async function forgetAnswer(store: Store, requestId: string): Promise<void> {
  await store
    .updateTable('idempotency_keys')
    .set({ sealed_answer: NO_ANSWER })
    .where('request_id', '=', requestId)
    .execute()
}

/** Removes expired keys, beginning with those that expired first. Returns how many. */
export async function deleteExpiredIdempotencyKeys(
  store: Store,
  { now, limit }: { now: string; limit: number },
): Promise<number> {
  const { numDeletedRows } = await store
    .deleteFrom('idempotency_keys')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('account_id', 'idempotency_key'),
        'in',
        selectFrom('idempotency_keys as expired')
          .select(['expired.account_id', 'expired.idempotency_key'])
          .where('expired.expires_at', '<=', now)
          .orderBy('expired.expires_at')
          .limit(limit)
          .$asTuple('account_id', 'idempotency_key'),
      ),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
