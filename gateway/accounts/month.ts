/**
 * Limits how many seconds an account's requests may cost in a calendar month (UTC), metered or not.
 */

import { ServiceError } from '../../shared/errors.ts'
import { costOf } from './credits.ts'
import { limitOf, limitText } from './limits.ts'
import type { Settings } from '../config.ts'
import type { Store } from '../store/database.ts'
import type { AccountRow, RequestRow } from '../store/schema/tables.ts'
import { usedSince } from '../store/usage.ts'

/** The length of the month in a timestamp. */
const MONTH_CHARACTERS = '2026-01'.length

/**
 * Returns the seconds charged for requests that the account completed in the month of `now`, a
 * timestamp.
 */
export const usedInMonth = (
  store: Store,
  { account_id: accountId }: Pick<AccountRow, 'account_id'>,
  now: string,
): Promise<number> => usedSince(store, accountId, `${now.slice(0, MONTH_CHARACTERS)}-01`)

/**
 * Checks the month's limit; call it in the transaction of a submit. Media of unknown length counts
 * as one second long. Requests in progress are always finished, even if they exceed the limit.
 * @throws ServiceError `RATE_LIMITED` if the seconds left in the month do not suffice
 */
export async function assertMonth(
  store: Store,
  { row, account }: { row: RequestRow; account: AccountRow },
  { monthSecondsMaxPerAccount }: Settings<'monthSecondsMaxPerAccount'>,
): Promise<void> {
  const limit = limitOf(account, 'seconds_per_month', monthSecondsMaxPerAccount)
  if (limit.max === Infinity) return
  const { created_at: now } = row
  const [used, cost] = [await usedInMonth(store, account, now), costOf(row, row.duration ?? 1)]
  if (used + cost <= limit.max) return
  const [year, month] = now.split('-').map(Number)
  const resetMs = Date.UTC(year!, month!, 1) // the next month: Date.UTC counts from 0
  throw new ServiceError('RATE_LIMITED', {
    message:
      `Your account has used ${used} s of its ${limit.max} s in this month, and this request ` +
      `takes ${cost} s at least ${limitText(limit)}.`,
    retryAfterSeconds: Math.ceil((resetMs - Date.parse(now)) / 1_000),
  })
}
