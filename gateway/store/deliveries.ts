/**
 * Events of finished requests for receivers: the request's `webhookUrl` and the endpoints of its
 * account. A sender claims one before it sends it; the claim lapses if the sender dies.
 */

import { sql, type Updateable } from 'kysely'
import { isPostgres, type Store } from './database.ts'
import type { Tables } from './schema/tables.ts'
import type { DeliveryRow } from './schema/webhook-tables.ts'
import { findEndpoint, secretsOf } from './webhook-endpoints.ts'

export type DeliveryChange = Updateable<Tables['deliveries']>

/** Where a delivery goes, and how it is signed. */
export interface Receiver {
  url: string
  /** The secrets that sign, encrypted for `owner`, the id of a request or endpoint. */
  secrets: readonly string[]
  owner: string
}

export interface DueDelivery extends DeliveryRow {
  /** Null if its endpoint was deleted or disabled. */
  receiver: Receiver | null
}

export async function insertDeliveries(store: Store, rows: DeliveryRow[]): Promise<void> {
  if (rows.length > 0) await store.insertInto('deliveries').values(rows).execute()
}

/** Returns the delivery to the `webhookUrl` of a request. */
export const findDelivery = (store: Store, requestId: string): Promise<DeliveryRow | undefined> =>
  store
    .selectFrom('deliveries')
    .selectAll()
    .where('request_id', '=', requestId)
    .where('endpoint_id', 'is', null)
    .executeTakeFirst()

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

interface ClaimOptions {
  now: string
  accountId: string
  /** Hosts whose slots are all taken. */
  exceptHosts: readonly string[]
  claimId: string
  /** When the claim lapses. */
  until: string
}

/**
 * Claims the webhook that has been due for longest of those that the account may send now. That
 * includes one whose sender lost its claim; the lost attempt is not counted a second time. It is a
 * single statement, so senders do not wait for each other.
 */
export async function claimDue(
  store: Store,
  { now, accountId, exceptHosts, claimId, until }: ClaimOptions,
): Promise<DueDelivery | undefined> {
  const longestDue = store
    .selectFrom('deliveries')
    .select('webhook_id')
    .where('account_id', '=', accountId)
    .where('next_attempt_at', '<=', now)
    .$if(exceptHosts.length > 0, (query) => query.where('host', 'not in', exceptHosts))
    .orderBy('next_attempt_at')
    .orderBy('webhook_id')
    .limit(1)
    .$if(isPostgres(store), (query) => query.forUpdate().skipLocked())
  const claimed = await store
    .updateTable('deliveries')
    .set({
      state: 'sending',
      claim_id: claimId,
      next_attempt_at: until,
      attempts: sql`case when state = 'sending' then attempts else attempts + 1 end`,
      first_attempt_at: sql`case when attempts = 0 then ${now} else first_attempt_at end`,
    })
    .where('webhook_id', '=', longestDue)
    .returningAll()
    .executeTakeFirst()
  if (!claimed) return undefined
  const receiver = await receiverOf(store, claimed, now)
  return receiver === undefined ? undefined : { ...claimed, receiver }
}

/** Returns undefined if both the delivery and its request were deleted in the meantime. */
async function receiverOf(
  store: Store,
  { request_id: requestId, endpoint_id: endpointId }: DeliveryRow,
  now: string,
): Promise<Receiver | null | undefined> {
  if (endpointId === null) {
    const request = await store
      .selectFrom('requests')
      .select(['webhook_url', 'webhook_secret'])
      .where('request_id', '=', requestId)
      .executeTakeFirst()
    if (!request) return undefined
    const { webhook_url: url, webhook_secret: secret } = request
    return { url: url ?? '', secrets: [secret ?? ''], owner: requestId }
  }
  const endpoint = await findEndpoint(store, endpointId)
  if (!endpoint || endpoint.disabled_at !== null) return null
  return { url: endpoint.url, secrets: secretsOf(endpoint, now), owner: endpointId }
}

/** Returns the delivery as it is now, if the claim still holds it. */
export const findClaimed = (store: Store, webhookId: string, claimId: string) =>
  store
    .selectFrom('deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('claim_id', '=', claimId)
    .executeTakeFirst()

/**
 * Changes a delivery if it is still as it was read; returns false otherwise. It is a single
 * statement, so it never fails because of a lock that a transaction would have to get between
 * reading and writing.
 */
export async function changeDelivery(store: Store, row: DeliveryRow, set: DeliveryChange) {
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
