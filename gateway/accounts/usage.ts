/** Reads an account's use by day. */

import { dayOfTime, isoTime, type Clock } from '../../shared/clock.ts'
import { DAY_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { readUsage } from '../store/usage.ts'
import type { AccountDeps } from './accounts.ts'

/** At most this many days in one response. */
export const USAGE_DAYS_MAX = 366
const DAYS_BY_DEFAULT = 30
const DAY = /^\d{4}-\d\d-\d\d$/

export interface DaysQuery {
  from?: unknown
  to?: unknown
}

/**
 * Returns an account's usage by day.
 * @throws ServiceError `INVALID_PARAMETER` if `from` or `to` is not a day, or if there are too many
 *   days
 */
export async function usageOf({ store, clock }: AccountDeps, accountId: string, query: DaysQuery) {
  const days = daysOf(query, clock)
  const rows = await readUsage(store, accountId, days)
  const data = rows.map(({ account_id: _accountId, device_seconds: _device, ...day }) => day)
  return { object: 'list', ...days, data }
}

/**
 * Returns the first and the last day of a range; by default, the last 30 days.
 * @throws ServiceError `INVALID_PARAMETER` for a text that is no day, or for too many days
 */
export function daysOf(query: DaysQuery, clock: Clock): { from: string; to: string } {
  const last = dayOf('to', query.to) ?? Math.floor(clock.now() / DAY_MS)
  const first = dayOf('from', query.from) ?? last - DAYS_BY_DEFAULT + 1
  if (first > last) throw parameterError('from', 'from must not be after to.')
  if (last - first >= USAGE_DAYS_MAX) {
    throw parameterError('from', `from and to may include ${USAGE_DAYS_MAX} days at most.`)
  }
  return { from: textOf(first), to: textOf(last) }
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

const textOf = (day: number): string => dayOfTime(isoTime(day * DAY_MS))

const parameterError = (param: string, message: string) =>
  new ServiceError('INVALID_PARAMETER', { message, param })
