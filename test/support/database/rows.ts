/** Rows for tests of the database itself: outbox entries, which refer to no other table. */

import type { Store } from '../../../gateway/store/database.ts'
import { putInOutbox } from '../../../gateway/store/outbox.ts'

export const put = (store: Store, id: string): Promise<void> =>
  putInOutbox(
    store,
    { message_id: id, request_id: id, created_at: '2026-01-02T03:04:05.678Z' },
    'interactive',
  )

/** Returns the ids of all rows, in order. */
export const stored = async (store: Store): Promise<string[]> =>
  (await store.selectFrom('outbox').select('message_id').orderBy('message_id').execute()).map(
    (row) => row.message_id,
  )
