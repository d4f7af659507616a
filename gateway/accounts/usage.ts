/** Reads an account's use by day. */

import { isoTime } from '../../shared/clock.ts'
import { DAY_SECONDS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { readUsage } from '../store/usage.ts'
import type { Usage } from './schemas.ts'
import type { AccountDeps } from './accounts.ts'

/** At most this many days in one response. */
export const USAGE_DAYS_MAX = 366
const DAYS_BY_DEFAULT = 30
const DAY_MS = 1_000 * DAY_SECONDS
const DAY = /^\d{4}-\d\d-\d\d$/

/**
 * Returns an account's usage by day.
 * @throws ServiceError `INVALID_PARAMETER` if `from` or `to` is not a day, or if there are too many
 *   days
 */
export async function usageOf(
  { store, clock }: AccountDeps,
  accountId: string,
  query: { from?: unknown; to?: unknown },
): Promise<Usage> {
  const last = dayOf('to', query.to) ?? Math.floor(clock.now() / DAY_MS)
  const first = dayOf('from', query.from) ?? last - DAYS_BY_DEFAULT + 1
  if (first > last) throw parameterError('from', 'from must not be after to.')
  if (last - first >= USAGE_DAYS_MAX) {
    throw parameterError('from', `from and to may include ${USAGE_DAYS_MAX} days at most.`)
  }
  const [from, to] = [textOf(first), textOf(last)]
  const rows = await readUsage(store, accountId, { from, to })
  const data = rows.map(({ account_id: _accountId, ...day }) => day)
  return { object: 'list', from, to, data }
}

/** Returns the number of days from 1970 to the day in a query parameter. */
function dayOf(param: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  const time = typeof value === 'string' && DAY.test(value) ? Date.parse(value) : NaN
  const day = time / DAY_MS
  if (Number.isNaN(time) || textOf(day) !== value) {
    throw parameterError(param, `${param} must be a day such as 2026-01-31.`)
  }
  return day
}

const textOf = (day: number): string => isoTime(day * DAY_MS).slice(0, '2026-01-31'.length)

const parameterError = (param: string, message: string) =>
  new ServiceError('INVALID_PARAMETER', { message, param })
