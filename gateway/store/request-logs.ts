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
  const last = await store
    .selectFrom('request_logs')
    .select('position')
    .where('request_id', '=', requestId)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst()
  const first = last === undefined ? 0 : last.position + 1
  const rows = lines.map(({ timestamp, message }, line) => ({
    request_id: requestId,
    position: first + line,
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
