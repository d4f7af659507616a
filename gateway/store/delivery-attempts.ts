/** The attempts of a webhook's delivery: when each was, and what came of it. */

import type { Store } from './database.ts'
import type { DeliveryAttemptRow } from './schema/tables.ts'

/** Attempts of one webhook; a redelivery adds ten at most. Older ones are dropped. */
export const ATTEMPTS_KEPT_MAX = 30

/** Adds an attempt, and drops the oldest beyond the most. */
export async function insertAttempt(store: Store, attempt: DeliveryAttemptRow): Promise<void> {
  await store.insertInto('delivery_attempts').values(attempt).execute()
  const kept = newestAttempts(store, attempt.webhook_id).select('attempt_id')
  await store
    .deleteFrom('delivery_attempts')
    .where('webhook_id', '=', attempt.webhook_id)
    .where('attempt_id', 'not in', kept)
    .execute()
}

/** The attempts of a webhook, oldest first. */
export async function readAttempts(store: Store, webhookId: string): Promise<DeliveryAttemptRow[]> {
  const newest = await newestAttempts(store, webhookId).selectAll().execute()
  return newest.reverse()
}

const newestAttempts = (store: Store, webhookId: string) =>
  store
    .selectFrom('delivery_attempts')
    .where('webhook_id', '=', webhookId)
    .orderBy('started_at', 'desc')
    .orderBy('attempt_id', 'desc')
    .limit(ATTEMPTS_KEPT_MAX)

/** Of an account, the requests among whose webhooks its attempts are looked for. */
export const REQUESTS_LOOKED_AT = 100

/** Attempts of all webhooks, or those of an account's last requests; the latest first. */
export const latestAttempts = (store: Store, limit: number, accountId?: string) =>
  latestWithDeliveries(store)
    .select(['request_id', 'host', 'started_at', 'duration_ms', 'status_code', 'error'])
    .$if(accountId !== undefined, (query) =>
      query.where('request_id', 'in', lastRequests(store, accountId!)),
    )
    .limit(limit)
    .execute()

/** A page of the attempts of all accounts with the state of their webhooks, the latest first. */
export const listAllAttempts = (
  store: Store,
  { limit, after }: { limit: number; after?: { created_at: string; id: string } | undefined },
) =>
  latestWithDeliveries(store)
    .select(['attempt_id', 'request_id', 'account_id', 'host', 'state', 'attempts'])
    .select(['started_at', 'duration_ms', 'status_code', 'error', 'next_attempt_at'])
    .$if(after !== undefined, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('started_at', 'attempt_id'), '<', tuple(after!.created_at, after!.id)),
      ),
    )
    .limit(limit)
    .execute()

const latestWithDeliveries = (store: Store) =>
  store
    .selectFrom('delivery_attempts')
    .innerJoin('deliveries', 'deliveries.webhook_id', 'delivery_attempts.webhook_id')
    .orderBy('started_at', 'desc')
    .orderBy('attempt_id', 'desc')

const lastRequests = (store: Store, accountId: string) =>
  store
    .selectFrom('requests')
    .select('request_id')
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('request_id', 'desc')
    .limit(REQUESTS_LOOKED_AT)
