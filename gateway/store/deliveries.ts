/** Webhooks of finished requests. A sender holds one by a claim, which lapses when it dies. */

import type { Updateable } from 'kysely'
import type { Store } from './database.ts'
import type { DeliveryRow, RequestRow, Tables } from './tables.ts'

export type DeliveryChange = Updateable<Tables['deliveries']>
export type DueDelivery = DeliveryRow & Pick<RequestRow, 'webhook_url' | 'webhook_secret'>

export async function insertDelivery(store: Store, row: DeliveryRow): Promise<void> {
  await store.insertInto('deliveries').values(row).execute()
}

export const findDelivery = (store: Store, requestId: string): Promise<DeliveryRow | undefined> =>
  store.selectFrom('deliveries').selectAll().where('request_id', '=', requestId).executeTakeFirst()

interface DueOptions {
  now: string
  limit: number
  /** Hosts that have enough for the moment. */
  exceptHosts: readonly string[]
}

/** What may be sent now, also what a sender took and lost; the longest due first. */
export const listDue = (
  store: Store, { now, limit, exceptHosts }: DueOptions,
): Promise<DueDelivery[]> =>
  store.selectFrom('deliveries')
    .innerJoin('requests', 'requests.request_id', 'deliveries.request_id')
    .selectAll('deliveries').select(['requests.webhook_url', 'requests.webhook_secret'])
    .where('deliveries.next_attempt_at', '<=', now)
    .$if(exceptHosts.length > 0, (query) => query.where('deliveries.host', 'not in', exceptHosts))
    .orderBy('deliveries.next_attempt_at').orderBy('deliveries.webhook_id')
    .limit(limit).execute()

/**
 * Takes a delivery as it was read, until `until`; false when somebody else was quicker. A try that
 * was lost on the way is not counted a second time.
 */
export async function claimDelivery(
  store: Store, row: DeliveryRow, { claimId, until }: { claimId: string; until: string },
): Promise<boolean> {
  const attempts = row.state === 'sending' ? row.attempts : row.attempts + 1
  const { numUpdatedRows } = await store.updateTable('deliveries')
    .set({ state: 'sending', claim_id: claimId, next_attempt_at: until, attempts })
    .where('webhook_id', '=', row.webhook_id)
    .where('state', '=', row.state)
    .where('attempts', '=', row.attempts)
    .where('next_attempt_at', '=', row.next_attempt_at)
    .where('claim_id', row.claim_id === null ? 'is' : '=', row.claim_id)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The delivery as it is now, if the claim still holds it. */
export const findClaimed = (store: Store, claimId: string): Promise<DeliveryRow | undefined> =>
  store.selectFrom('deliveries').selectAll().where('claim_id', '=', claimId).executeTakeFirst()

export async function updateDelivery(
  store: Store, webhookId: string, set: DeliveryChange,
): Promise<void> {
  await store.updateTable('deliveries').set(set).where('webhook_id', '=', webhookId).execute()
}
