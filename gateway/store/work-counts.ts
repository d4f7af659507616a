/** Counts the work that is still to be done, reading only indexes. */

import type { RequestStatus } from '../../shared/request-status.ts'
import type { Store } from './database.ts'

export interface WorkCounts {
  /** Requests in the queue, and those that engines have. */
  queued: number
  running: number
  oldestQueuedAt: string | null
  /** Jobs still to be handed to the broker. */
  outbox: number
  /** Webhooks still to be sent, and those of them that are due. */
  webhooks: number
  webhooksDue: number
}

export async function countWork(store: Store, now: string): Promise<WorkCounts> {
  const count = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }) =>
    Number((await query.executeTakeFirstOrThrow()).count)
  const requests = (status: RequestStatus) =>
    count(
      store
        .selectFrom('requests')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('status', '=', status),
    )
  const webhooks = (until: string | null) =>
    count(
      store
        .selectFrom('deliveries')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('next_attempt_at', 'is not', null)
        .$if(until !== null, (query) => query.where('next_attempt_at', '<=', until!)),
    )
  const oldest = await store
    .selectFrom('requests')
    .select('created_at')
    .where('status', '=', 'IN_QUEUE')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return {
    queued: await requests('IN_QUEUE'),
    running: await requests('IN_PROGRESS'),
    oldestQueuedAt: oldest?.created_at ?? null,
    outbox: await count(
      store.selectFrom('outbox').select(({ fn }) => fn.countAll<number>().as('count')),
    ),
    webhooks: await webhooks(null),
    webhooksDue: await webhooks(now),
  }
}
