/** The attempts to deliver webhooks: when each was made, and its outcome. */

import type { Store } from './database.ts'
import type { DeliveryAttemptRow } from './schema/webhook-tables.ts'

/**
 * Attempts kept for one webhook; older ones are dropped. Each delivery or redelivery makes ten at
 * most.
 */
export const ATTEMPTS_KEPT_MAX = 30

/** Adds an attempt, and drops the oldest ones beyond the limit. */
export async function insertAttempt(store: Store, attempt: DeliveryAttemptRow): Promise<void> {
  await store.insertInto('delivery_attempts').values(attempt).execute()
  const newest = newestAttempts(store, attempt.webhook_id).select('attempt_id')
  await store
    .deleteFrom('delivery_attempts')
    .where('webhook_id', '=', attempt.webhook_id)
    .where('attempt_id', 'not in', newest)
    .execute()
}

/** Returns the attempts of a webhook, oldest first. */
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

/** An account's attempts are looked for among the webhooks of this many of its latest requests. */
export const REQUESTS_LOOKED_AT = 100

/** Returns the attempts of all webhooks, or those of an account's latest requests, latest first. */
export const latestAttempts = (store: Store, limit: number, accountId?: string) =>
  store
    .selectFrom('delivery_attempts')
    .innerJoin('deliveries', 'deliveries.webhook_id', 'delivery_attempts.webhook_id')
    .select(['request_id', 'endpoint_id', 'host', 'started_at'])
    .select(['duration_ms', 'status_code', 'error'])
    .$if(accountId !== undefined, (query) =>
      query.where('request_id', 'in', lastRequests(store, accountId!)),
    )
    .orderBy('started_at', 'desc')
    .orderBy('attempt_id', 'desc')
    .limit(limit)
    .execute()

const lastRequests = (store: Store, accountId: string) =>
  store
    .selectFrom('requests')
    .select('request_id')
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('request_id', 'desc')
    .limit(REQUESTS_LOOKED_AT)
