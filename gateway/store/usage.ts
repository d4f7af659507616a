/** Counts each account's usage by day. The counts outlive the records of requests. */

import type { Store } from './database.ts'
import type { UsageDayRow } from './schema/tables.ts'

/** What is counted; by default nothing. */
type Use = Pick<UsageDayRow, 'account_id' | 'day'> & Partial<UsageDayRow>

/** Counts what an account used; call it in the transaction of the event that it follows from. */
export async function addUse(store: Store, added: Use): Promise<void> {
  const use = { completed: 0, failed: 0, audio_seconds: 0, device_seconds: 0, ...added }
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
          device_seconds: eb('usage_days.device_seconds', '+', use.device_seconds),
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

interface UsagePage {
  from: string
  to: string
  /** Only this account's. */
  accountId?: string | undefined
  limit: number
  after?: Pick<UsageDayRow, 'day' | 'account_id'> | undefined
}

/** Days of all accounts with any use, with the accounts' names, by day and account. */
export const listUsage = (store: Store, { from, to, accountId, limit, after }: UsagePage) =>
  store
    .selectFrom('usage_days')
    .innerJoin('accounts', 'accounts.account_id', 'usage_days.account_id')
    .select(['day', 'usage_days.account_id', 'name'])
    .select(['completed', 'failed', 'audio_seconds', 'device_seconds'])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .$if(accountId !== undefined, (query) => query.where('usage_days.account_id', '=', accountId!))
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('day', 'usage_days.account_id'), '>', tuple(after!.day, after!.account_id)),
      ),
    )
    .orderBy('day')
    .orderBy('usage_days.account_id')
    .limit(limit)
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
