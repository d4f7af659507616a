/** The logs of requests, written by engines for people to read. */

import { sql } from 'kysely'
import type { LogLine } from '../../shared/messages.ts'
import type { Store } from './database.ts'

/** Rows per statement, because databases limit the values of one. */
const ROWS_MAX = 1_000

/** Appends `lines` to the logs of a request; call it in the transaction that moves the request. */
export async function appendLogs(store: Store, requestId: string, lines: readonly LogLine[]) {
  if (lines.length === 0) return
  for (let start = 0; start < lines.length; start += ROWS_MAX) {
    const rows = lines
      .slice(start, start + ROWS_MAX)
      .map(({ timestamp, message }, line) => ({
        request_id: requestId,
        position: sql<number>`${nextPosition(store, requestId)} + ${sql.lit(line)}`,
        timestamp,
        message,
      }))
    await store.insertInto('request_logs').values(rows).execute()
  }
}

/**
 * The position of the first line that a statement adds. All rows of the statement see the table as
 * it was before.
 */
const nextPosition = (store: Store, requestId: string) =>
  store
    .selectFrom('request_logs')
    .select(sql<number>`coalesce(max(position) + 1, 0)`.as('next'))
    .where('request_id', '=', requestId)

export const readLogs = (store: Store, requestId: string): Promise<LogLine[]> =>
  store
    .selectFrom('request_logs')
    .select(['timestamp', 'message'])
    .where('request_id', '=', requestId)
    .orderBy('position')
    .execute()
