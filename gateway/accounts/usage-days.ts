/** Reads the use of all accounts by day, page by page, for admins: as JSON or CSV. */

import { Type, type Static } from 'typebox'
import { ServiceError } from '../../shared/errors.ts'
import { pageOf, pageStartOf } from '../api/pagination.ts'
import { Nullable } from '../api/schemas.ts'
import type { Store } from '../store/database.ts'
import { listUsage } from '../store/usage.ts'
import type { AccountDeps } from './accounts.ts'
import { UsageDay } from './schemas.ts'
import { daysOf, type DaysQuery } from './usage.ts'

const AccountUsageDay = Type.Object(
  {
    day: UsageDay.properties.day,
    account_id: Type.String(),
    name: Type.String({ description: 'Empty if the account is deleted.' }),
    completed: UsageDay.properties.completed,
    failed: UsageDay.properties.failed,
    audio_seconds: UsageDay.properties.audio_seconds,
    device_seconds: Type.Number({
      minimum: 0,
      description:
        "Seconds of engines' devices that its requests took, including failed, canceled and " +
        'interrupted ones, on the day when each attempt ended. What an engine computed that was ' +
        'killed, or for a request that was deleted in progress, is not counted.',
    }),
  },
  { title: 'AccountUsageDay' },
)

export const AccountUsageDays = Type.Object(
  {
    object: Type.Literal('list'),
    from: Type.String({ description: 'The first day, for example `2026-01-31`.' }),
    to: Type.String({ description: 'The last day.' }),
    data: Type.Array(AccountUsageDay, {
      description: 'By day and account; without days on which an account used nothing.',
    }),
    next_cursor: Nullable(Type.String()),
  },
  { title: 'AccountUsageDays' },
)

type Row = Static<typeof AccountUsageDay>

export interface UsageQuery extends DaysQuery {
  accountId?: string | undefined
}

/** Rows that are read at once for CSV. */
const ROWS_AT_ONCE = 1_000

/** @throws ServiceError `INVALID_PARAMETER` for a text that is no day, or for too many days */
export async function usageByDay(
  { store, clock }: AccountDeps,
  { limit, cursor, accountId, ...query }: UsageQuery & { limit: number; cursor?: unknown },
): Promise<Static<typeof AccountUsageDays>> {
  const days = daysOf(query, clock)
  const start = pageStartOf(cursor)
  const after = start && { day: dayOfCursor(start.created_at), account_id: start.id }
  const rows = await listUsage(store, { ...days, accountId, limit: limit + 1, after })
  const { page, next_cursor } = pageOf(rows, limit, ({ day, account_id: id }) => ({
    created_at: `${day}${MIDNIGHT}`,
    id,
  }))
  return { object: 'list', ...days, data: page.map(present), next_cursor }
}

const MIDNIGHT = 'T00:00:00.000Z'

const dayOfCursor = (time: string): string => time.slice(0, -MIDNIGHT.length)

/**
 * All rows as CSV with CRLF (RFC 4180), in pieces that are read one after another.
 * @throws ServiceError `INVALID_PARAMETER`, before the first piece
 */
export function usageCsv(
  { store, clock }: AccountDeps,
  { accountId, ...query }: UsageQuery,
): AsyncGenerator<string> {
  return csvOf(store, { ...daysOf(query, clock), accountId })
}

async function* csvOf(
  store: Store,
  range: { from: string; to: string; accountId: string | undefined },
): AsyncGenerator<string> {
  const names = Object.keys(AccountUsageDay.properties) as (keyof Row)[]
  yield csvLine(names)
  for (let after: Row | undefined; ;) {
    const rows = await listUsage(store, { ...range, limit: ROWS_AT_ONCE, after })
    yield rows.map((row) => csvLine(names.map((name) => present(row)[name]))).join('')
    after = rows.at(-1)
    if (rows.length < ROWS_AT_ONCE) return
  }
}

const present = (row: Row): Row => ({
  ...row,
  device_seconds: Math.round(row.device_seconds * 1_000) / 1_000,
})

const csvLine = (cells: readonly (string | number)[]): string => `${cells.map(csvCell).join()}\r\n`

/** An apostrophe keeps spreadsheets from computing a name, such as `=1+1`, as a formula. */
function csvCell(cell: string | number): string {
  const text = typeof cell === 'string' && /^[=+\-@\t\r\n|%]/.test(cell) ? `'${cell}` : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Returns whether a call asks for CSV.
 * @param format the query's `format`, which takes precedence over the header
 * @param accept the header `Accept`
 * @throws ServiceError `INVALID_PARAMETER` for an unknown format
 */
export function asksForCsv(format: unknown, accept = ''): boolean {
  if (format === undefined) return /^\s*text\/csv\b/i.test(accept)
  if (format === 'csv' || format === 'json') return format === 'csv'
  const message = 'format must be json or csv.'
  throw new ServiceError('INVALID_PARAMETER', { message, param: 'format' })
}
