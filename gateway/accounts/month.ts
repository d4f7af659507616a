/** Limits what an account's requests cost in a calendar month, which is UTC, metered or not. */

import { ServiceError } from '../../shared/errors.ts'
import { costOf } from './credits.ts'
import { limitOf, limitText, type LimitDefaults } from './limits.ts'
import type { Store } from '../store/database.ts'
import type { AccountRow, RequestRow } from '../store/schema/tables.ts'
import { usedSince } from '../store/usage.ts'

export type MonthLimit = Pick<LimitDefaults, 'monthSecondsMaxPerAccount'>

/** Characters of the month in a timestamp. */
const MONTH_CHARACTERS = '2026-01'.length

/** Seconds of the account's requests that were completed in the month of `now`, a timestamp. */
export const usedInMonth = (
  store: Store,
  { account_id: accountId }: Pick<AccountRow, 'account_id'>,
  now: string,
): Promise<number> => usedSince(store, accountId, `${now.slice(0, MONTH_CHARACTERS)}-01`)

/**
 * Call it in the transaction of a submit. A request whose length nobody knows yet counts as one
 * second; those under way are finished, whatever they take.
 * @throws ServiceError `RATE_LIMITED` when the month's seconds do not suffice
 */
export async function assertMonth(
  store: Store,
  { row, account }: { row: RequestRow; account: AccountRow },
  { monthSecondsMaxPerAccount }: MonthLimit,
): Promise<void> {
  const limit = limitOf(account, 'seconds_per_month', monthSecondsMaxPerAccount)
  if (limit.max === Infinity) return
  const { created_at: now } = row
  const [used, cost] = [await usedInMonth(store, account, now), costOf(row, row.duration ?? 1)]
  if (used + cost <= limit.max) return
  const [year, month] = now.split('-').map(Number)
  const resetMs = Date.UTC(year!, month!, 1) // `month` counts from 1: that is the next one
  throw new ServiceError('RATE_LIMITED', {
    message:
      `Your account has used ${used} s of its ${limit.max} s in this month, and this request ` +
      `takes ${cost} s at least ${limitText(limit)}.`,
    retryAfterSeconds: Math.ceil((resetMs - Date.parse(now)) / 1_000),
  })
}
