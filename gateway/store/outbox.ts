/**
 * Requests whose jobs are still to be handed to the broker. A row is written together with its
 * request.
 */

import type { SqlBool } from 'kysely'
import type { Priority } from '../../shared/priority.ts'
import { isPostgres, type Store } from './database.ts'
import { isShort } from './jobs-in-broker.ts'
import type { OutboxRow, RequestRow } from './schema/tables.ts'

type NewOutboxRow = Omit<OutboxRow, 'is_batch' | 'not_before' | 'tries' | 'trace_parent'> &
  Partial<OutboxRow>

export async function putInOutbox(store: Store, row: NewOutboxRow, priority: Priority) {
  await store
    .insertInto('outbox')
    .values({
      not_before: null,
      tries: 0,
      trace_parent: null,
      ...row,
      is_batch: priority === 'batch' ? 1 : 0,
    })
    .execute()
}

export type WaitingJob = RequestRow &
  Pick<OutboxRow, 'message_id' | 'tries' | 'trace_parent'> & {
    /** True or 1, depending on the database. */
    is_short: SqlBool | null
  }

interface TakeOptions {
  now: string
  /** Until then, other gateways leave the taken rows alone. */
  until: string
  /** A row that would wait even longer is taken at once, because the clock was set back. */
  latest: string
  limit: number
}

/**
 * Returns the requests whose delay is over, each with the message id of its job: interactive ones
 * first, and within a class those that have waited longest. They stay in the outbox until they are
 * removed or put off.
 */
export async function takeWaiting(
  store: Store,
  { now, until, latest, limit }: TakeOptions,
): Promise<WaitingJob[]> {
  const waiting = inOrder(store)
    .where(({ eb, or }) =>
      or([
        eb('outbox.not_before', 'is', null),
        eb('outbox.not_before', '<=', now),
        eb('outbox.not_before', '>', latest),
      ]),
    )
    .limit(limit)
  if (!isPostgres(store)) return withRequests(waiting).execute() // there is no other gateway
  const taken = await store
    .with('taken', (db) =>
      db
        .updateTable('outbox')
        .set({ not_before: until })
        .where('message_id', 'in', waiting.select('message_id').forUpdate().skipLocked())
        .returning(['message_id', 'request_id', 'tries', 'trace_parent']),
    )
    .selectFrom('taken')
    .innerJoin('requests', 'requests.request_id', 'taken.request_id')
    .selectAll('requests')
    .select(['taken.message_id', 'taken.tries', 'taken.trace_parent'])
    .select(isShort.as('is_short'))
    .execute()
  // A row has the time of its request, so this is the order of the outbox.
  return taken.sort(
    (a, b) =>
      compare(b.priority, a.priority) || // interactive first
      compare(a.created_at, b.created_at) ||
      compare(a.message_id, b.message_id),
  )
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const inOrder = (store: Store) =>
  store
    .selectFrom('outbox')
    .orderBy('outbox.is_batch')
    .orderBy('outbox.created_at')
    .orderBy('outbox.message_id')

const withRequests = (query: ReturnType<typeof inOrder>) =>
  query
    .innerJoin('requests', 'requests.request_id', 'outbox.request_id')
    .selectAll('requests')
    .select(['outbox.message_id', 'outbox.tries', 'outbox.trace_parent'])
    .select(isShort.as('is_short'))

/** Gives back rows that were taken, so that they can be taken again at once. */
export async function giveBackToOutbox(store: Store, messageIds: readonly string[]): Promise<void> {
  await store
    .updateTable('outbox')
    .set({ not_before: null })
    .where('message_id', 'in', messageIds)
    .execute()
}

interface HoldOptions {
  until: string
  /** Leaves the interactive rows alone. */
  isBatchOnly: boolean
}

/**
 * Makes an account's rows in the outbox wait until then. Those that wait longer stay as they are.
 */
export async function holdBack(
  store: Store,
  accountId: string,
  { until, isBatchOnly }: HoldOptions,
): Promise<void> {
  await store
    .updateTable('outbox')
    .set({ not_before: until })
    .where('request_id', 'in', (db) =>
      db
        .selectFrom('requests')
        .select('request_id')
        .where('account_id', '=', accountId)
        .where('status', 'in', ['IN_QUEUE', 'IN_PROGRESS'])
        .$if(isBatchOnly, (query) => query.where('priority', '=', 'batch')),
    )
    .where(({ eb, or }) => or([eb('not_before', 'is', null), eb('not_before', '<', until)]))
    .execute()
}

/** Records that the broker refused a job, which is then delayed until `notBefore`. */
export async function putOff(
  store: Store,
  { message_id: messageId, tries }: Pick<WaitingJob, 'message_id' | 'tries'>,
  notBefore: string,
): Promise<void> {
  await store
    .updateTable('outbox')
    .set({ not_before: notBefore, tries: tries + 1 })
    .where('message_id', '=', messageId)
    .execute()
}

export async function removeFromOutbox(store: Store, messageIds: readonly string[]): Promise<void> {
  await store.deleteFrom('outbox').where('message_id', 'in', messageIds).execute()
}

export async function withdrawFromOutbox(store: Store, requestId: string): Promise<void> {
  await store.deleteFrom('outbox').where('request_id', '=', requestId).execute()
}
