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

/** The accounts that have something to send now. */
export async function listDueAccounts(store: Store, now: string): Promise<string[]> {
  const rows = await store
    .selectFrom('accounts')
    .select('account_id')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('deliveries')
          .select('webhook_id')
          .whereRef('deliveries.account_id', '=', 'accounts.account_id')
          .where('next_attempt_at', '<=', now),
      ),
    )
    .execute()
  return rows.map((row) => row.account_id)
}

interface DueOptions {
  now: string
  accountId: string
  /** Hosts whose slots are all taken. */
  exceptHosts: readonly string[]
}

/** The delivery of the account that is due longest, one with a lapsed claim included. */
export const findDue = (
  store: Store,
  { now, accountId, exceptHosts }: DueOptions,
): Promise<DueDelivery | undefined> =>
  store
    .selectFrom('deliveries')
    .innerJoin('requests', 'requests.request_id', 'deliveries.request_id')
    .selectAll('deliveries')
    .select(['requests.webhook_url', 'requests.webhook_secret'])
    .where('deliveries.account_id', '=', accountId)
    .where('deliveries.next_attempt_at', '<=', now)
    .$if(exceptHosts.length > 0, (query) => query.where('deliveries.host', 'not in', exceptHosts))
    .orderBy('deliveries.next_attempt_at')
    .orderBy('deliveries.webhook_id')
    .limit(1)
    .executeTakeFirst()

interface Claim {
  claimId: string
  now: string
  until: string
}

/**
 * Takes a delivery as it was read, until `until`; false when another sender was first. A try that
 * was lost is not counted a second time.
 */
export const claimDelivery = (
  store: Store,
  row: DeliveryRow,
  { claimId, now, until }: Claim,
): Promise<boolean> =>
  changeDelivery(store, row, {
    state: 'sending',
    claim_id: claimId,
    next_attempt_at: until,
    attempts: row.state === 'sending' ? row.attempts : row.attempts + 1,
    ...(row.attempts === 0 && { first_attempt_at: now }),
  })

/** The delivery as it is now, if the claim still holds it. */
export const findClaimed = (
  store: Store,
  webhookId: string,
  claimId: string,
): Promise<DeliveryRow | undefined> =>
  store
    .selectFrom('deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('claim_id', '=', claimId)
    .executeTakeFirst()

/**
 * Changes a delivery that is still as it was read; false when it is not. One statement, so that it
 * never fails for a lock that a transaction would have to get between reading and writing.
 */
export async function changeDelivery(
  store: Store,
  row: DeliveryRow,
  set: DeliveryChange,
): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('deliveries')
    .set(set)
    .where('webhook_id', '=', row.webhook_id)
    .where('state', '=', row.state)
    .where('attempts', '=', row.attempts)
    .where('next_attempt_at', 'is not distinct from', row.next_attempt_at)
    .where('claim_id', 'is not distinct from', row.claim_id)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
