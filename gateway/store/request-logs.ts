/** The logs of requests, written by engines for people to read. */

import type { LogLine } from '../../shared/messages.ts'
import type { Store } from './database.ts'

/** Rows of one statement: databases limit its values. */
const ROWS_MAX = 1_000

/** Appends `lines` to the logs of a request; call it in the transaction that moves the request. */
export async function appendLogs(
  store: Store,
  requestId: string,
  lines: readonly LogLine[],
): Promise<void> {
  if (lines.length === 0) return
  const { count } = await store
    .selectFrom('request_logs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()
  const rows = lines.map(({ timestamp, message }, line) => ({
    request_id: requestId,
    position: Number(count) + line,
    timestamp,
    message,
  }))
  for (let start = 0; start < rows.length; start += ROWS_MAX) {
    const part = rows.slice(start, start + ROWS_MAX)
    await store.insertInto('request_logs').values(part).execute()
  }
}

export const readLogs = (store: Store, requestId: string): Promise<LogLine[]> =>
  store
    .selectFrom('request_logs')
    .select(['timestamp', 'message'])
    .where('request_id', '=', requestId)
    .orderBy('position')
    .execute()
