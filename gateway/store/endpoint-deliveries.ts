/** The deliveries to one endpoint, together. */

import { sql } from 'kysely'
import { isPostgres, type Store } from './database.ts'
import { newestFirst, type Page } from './pages.ts'
import type { DeliveryRow } from './schema/webhook-tables.ts'

/** Returns the deliveries to an endpoint, newest first, with the ends of their requests. */
export function listDeliveries(store: Store, endpointId: string, page: Page) {
  const deliveries = store
    .selectFrom('deliveries')
    .innerJoin('requests', 'requests.request_id', 'deliveries.request_id')
    .select(['webhook_id', 'deliveries.request_id', 'kind', 'status', 'state'])
    .select(['deliveries.attempts', 'next_attempt_at', 'delivered_at', 'last_error'])
    .select('deliveries.created_at')
    .where('endpoint_id', '=', endpointId)
  const order = { time: 'deliveries.created_at', id: 'webhook_id' }
  return newestFirst(deliveries, order, page).execute()
}

/** Counts the deliveries to an endpoint that were made at `from` or later, up to `most`. */
export async function countDeliveries(
  store: Store,
  endpointId: string,
  { from, most }: { from: string; most: number },
): Promise<number> {
  const rows = await store
    .selectFrom('deliveries')
    .select('webhook_id')
    .where('endpoint_id', '=', endpointId)
    .where('created_at', '>=', from)
    .limit(most)
    .execute()
  return rows.length
}

interface ReplayPage {
  endpointId: string
  /** The delivery after which the page begins, in the order of time; its id may be empty. */
  after: Pick<DeliveryRow, 'created_at' | 'webhook_id'>
  /** Only those made before this time. */
  until: string
  /** Only those that were not delivered. */
  isFailedOnly: boolean
  limit: number
  now: string
}

/**
 * Makes a page of deliveries due now, and starts their attempts over. Those that are being sent are
 * left to their sender. Returns the deliveries of the page, oldest first.
 */
export async function restartDeliveries(
  store: Store,
  { endpointId, until, after, isFailedOnly, limit, now }: ReplayPage,
): Promise<ReplayPage['after'][]> {
  const page = await store
    .selectFrom('deliveries')
    .select(['created_at', 'webhook_id'])
    .where('endpoint_id', '=', endpointId)
    .where('created_at', '<', until)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'webhook_id'), '>', tuple(after.created_at, after.webhook_id)),
    )
    .where('state', 'in', isFailedOnly ? ['failed', 'pending'] : ['failed', 'pending', 'delivered'])
    .orderBy('created_at')
    .orderBy('webhook_id')
    .limit(limit)
    .execute()
  if (page.length === 0) return page
  const ids = page.map((row) => row.webhook_id)
  const restarted = {
    ...({ state: 'pending', attempts: 0, next_attempt_at: now } as const),
    ...{ delivered_at: null, last_error: null },
  }
  await store
    .updateTable('deliveries')
    .set(restarted)
    .where('webhook_id', 'in', ids)
    .where('state', '<>', 'sending')
    .execute()
  return page
}

/**
 * Ends deliveries to an endpoint that wait for an attempt, unless it exists and is enabled. Returns
 * how many; fewer than `limit` if none is left.
 */
export async function endWaiting(
  store: Store,
  endpointId: string,
  { reason, limit }: { reason: string; limit: number },
): Promise<number> {
  const waiting = store
    .selectFrom('deliveries')
    .select('webhook_id')
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', sql.lit('pending')) // as its index states it
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('webhook_endpoints')
            .select('webhook_endpoints.endpoint_id')
            .where('webhook_endpoints.endpoint_id', '=', endpointId)
            .where('disabled_at', 'is', null),
        ),
      ),
    )
    .orderBy('webhook_id')
    .limit(limit)
  const { numUpdatedRows } = await store
    .updateTable('deliveries')
    .set({ state: 'failed', next_attempt_at: null, last_error: reason })
    .where('webhook_id', 'in', waiting)
    // one may have changed since it was chosen; SQLite would look for all that wait
    .$if(isPostgres(store), (query) => query.where('state', '=', 'pending'))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
