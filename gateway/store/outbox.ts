/** Requests whose jobs are still to be handed to the broker; written with the request itself. */

import type { Store } from './database.ts'
import type { OutboxRow, RequestRow } from './tables.ts'

type NewOutboxRow = Omit<OutboxRow, 'not_before' | 'tries' | 'trace_parent'> & Partial<OutboxRow>

export async function putInOutbox(store: Store, row: NewOutboxRow): Promise<void> {
  await store
    .insertInto('outbox')
    .values({ not_before: null, tries: 0, trace_parent: null, ...row })
    .execute()
}

export type WaitingJob = RequestRow & Pick<OutboxRow, 'message_id' | 'tries' | 'trace_parent'>

/** The due requests that have waited longest, with the message id of each one's job. */
export const oldestInOutbox = (store: Store, now: string, limit: number): Promise<WaitingJob[]> =>
  store
    .selectFrom('outbox')
    .innerJoin('requests', 'requests.request_id', 'outbox.request_id')
    .selectAll('requests')
    .select(['outbox.message_id', 'outbox.tries', 'outbox.trace_parent'])
    .where(({ eb, or }) =>
      or([eb('outbox.not_before', 'is', null), eb('outbox.not_before', '<=', now)]),
    )
    .orderBy('outbox.created_at')
    .orderBy('outbox.message_id')
    .limit(limit)
    .execute()

/** Records that the broker refused a job; it is delayed until `notBefore`. */
export async function putOff(
  store: Store,
  { message_id: messageId, tries }: WaitingJob,
  notBefore: string,
): Promise<void> {
  await store
    .updateTable('outbox')
    .set({ not_before: notBefore, tries: tries + 1 })
    .where('message_id', '=', messageId)
    .execute()
}

export async function takeFromOutbox(store: Store, messageIds: readonly string[]): Promise<void> {
  await store.deleteFrom('outbox').where('message_id', 'in', messageIds).execute()
}

/** Removes the outbox entry of a request, if it is still there. */
export async function withdrawFromOutbox(store: Store, requestId: string): Promise<void> {
  await store.deleteFrom('outbox').where('request_id', '=', requestId).execute()
}
