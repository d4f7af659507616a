/** Requests whose jobs are still to be handed to the broker; written with the request itself. */

import type { Store } from './database.ts'
import type { OutboxRow, RequestRow } from './tables.ts'

type NewOutboxRow = Omit<OutboxRow, 'not_before'> & Partial<OutboxRow>

export async function putInOutbox(store: Store, row: NewOutboxRow): Promise<void> {
  await store.insertInto('outbox').values(row).execute()
}

export type WaitingJob = RequestRow & Pick<OutboxRow, 'message_id'>

/** Requests that have waited longest and rest no more, with the message id of each one's job. */
export const oldestInOutbox = (store: Store, now: string, limit: number): Promise<WaitingJob[]> =>
  store.selectFrom('outbox').innerJoin('requests', 'requests.request_id', 'outbox.request_id')
    .selectAll('requests').select('outbox.message_id')
    .where(({ eb, or }) =>
      or([eb('outbox.not_before', 'is', null), eb('outbox.not_before', '<=', now)]))
    .orderBy('outbox.created_at').orderBy('outbox.message_id').limit(limit).execute()

export async function takeFromOutbox(store: Store, messageIds: readonly string[]): Promise<void> {
  await store.deleteFrom('outbox').where('message_id', 'in', messageIds).execute()
}

/** Takes back what was not yet handed over for a request. */
export async function withdrawFromOutbox(store: Store, requestId: string): Promise<void> {
  await store.deleteFrom('outbox').where('request_id', '=', requestId).execute()
}
