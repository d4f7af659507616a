/** Counts each account's usage by day. The counts outlive the records of requests. */

import type { Store } from './database.ts'
import type { UsageDayRow } from './schema/tables.ts'

/** Counts one ended request; call it in the transaction that ends it. */
export async function addUse(store: Store, use: UsageDayRow): Promise<void> {
  await store
    .insertInto('usage_days')
    .values(use)
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'day'])
        .doUpdateSet(({ eb }) => ({
          completed: eb('usage_days.completed', '+', use.completed),
          failed: eb('usage_days.failed', '+', use.failed),
          audio_seconds: eb('usage_days.audio_seconds', '+', use.audio_seconds),
        })),
    )
    .execute()
}

/** Returns the days with any usage in a range of days such as `2026-01-31`. */
export const readUsage = (
  store: Store,
  accountId: string,
  { from, to }: { from: string; to: string },
): Promise<UsageDayRow[]> =>
  store
    .selectFrom('usage_days')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .execute()

/** Returns the seconds, as charged, of an account's completed requests from a day on. */
export async function usedSince(store: Store, accountId: string, from: string): Promise<number> {
  const { seconds } = await store
    .selectFrom('usage_days')
    .select(({ fn }) => fn.sum<number | null>('audio_seconds').as('seconds'))
    .where('account_id', '=', accountId)
    .where('day', '>=', from)
    .executeTakeFirstOrThrow()
  return seconds ?? 0
}
