/**
 * Lists the requests and deliveries of all accounts page by page, and what each account uses and
 * stores.
 */

import { sql } from 'kysely'
import type { RequestStatus } from '../../shared/request-status.ts'
import type { Store } from './database.ts'
import { newestFirst, type Page } from './pages.ts'
import type { DeliveryState } from './schema/webhook-tables.ts'

interface AllRequests extends Page {
  statuses: readonly RequestStatus[]
  /** Only those of this account. */
  accountId?: string | undefined
}

/** Returns requests with these statuses, newest first. */
export function listAllRequests(store: Store, { statuses, accountId, ...page }: AllRequests) {
  // One page for each status, by its index: for several statuses at once, the database would sort
  // all rows.
  const ofStatus = (status: RequestStatus) => {
    const requests = store
      .selectFrom('requests')
      .selectAll()
      .where('status', '=', status)
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    const newest = newestFirst(requests, { id: 'request_id' }, page).as('newest')
    return store.selectFrom(newest).selectAll()
  }
  return statuses
    .map(ofStatus)
    .reduce((all, query) => all.unionAll(query))
    .orderBy(sql.ref('created_at'), 'desc')
    .orderBy(sql.ref('request_id'), 'desc')
    .limit(page.limit)
    .execute()
}

/**
 * Returns the deliveries to all receivers, newest first; only those in one state if it is named.
 */
export function listAllDeliveries(
  store: Store,
  { state, ...page }: Page & { state?: DeliveryState | undefined },
) {
  const deliveries = store
    .selectFrom('deliveries')
    .select(['webhook_id', 'request_id', 'account_id', 'endpoint_id', 'host', 'created_at'])
    .select(['state', 'attempts', 'next_attempt_at', 'delivered_at', 'last_error'])
    .$if(state !== undefined, (query) => query.where('state', '=', state!))
  return newestFirst(deliveries, { id: 'webhook_id' }, page).execute()
}

interface UseRange {
  /** The first day of use, such as `2026-01-31`. */
  day: string
  /** Media created since then is counted as added. */
  addedFrom: string
}

/**
 * Returns what each account has used since a day, the bytes that it added and still holds, and its
 * own limit. Deleted accounts are left out.
 */
export async function useOfAccounts(store: Store, { day, addedFrom }: UseRange) {
  const rows = await store
    .selectFrom('accounts')
    .leftJoin('usage_days', (join) =>
      join.onRef('usage_days.account_id', '=', 'accounts.account_id').on('day', '>=', day),
    )
    .groupBy('accounts.account_id')
    .select(({ fn }) => [
      'accounts.account_id',
      'max_media_bytes',
      fn.sum<number>('completed').as('completed'),
      fn.sum<number>('failed').as('failed'),
      fn.sum<number>('audio_seconds').as('audioSeconds'),
      fn.sum<number>('device_seconds').as('deviceSeconds'),
    ])
    .select(({ selectFrom }) => [
      selectFrom('files')
        .whereRef('files.account_id', '=', 'accounts.account_id')
        .where('created_at', '>=', addedFrom)
        .where('media_removed_at', 'is', null)
        .select(({ fn }) => fn.sum<number>('file_size').as('sum'))
        .as('fileBytes'),
      selectFrom('requests')
        .whereRef('requests.account_id', '=', 'accounts.account_id')
        .where('created_at', '>=', addedFrom)
        .where('media_removed_at', 'is', null)
        .select(({ fn }) => fn.sum<number>('media_bytes').as('sum'))
        .as('outputBytes'),
    ])
    .where('deleted_at', 'is', null)
    .execute()
  // sums of no rows are null
  return rows.map((row) => ({
    account_id: row.account_id,
    max_media_bytes: row.max_media_bytes,
    completed: Number(row.completed),
    failed: Number(row.failed),
    audio_seconds: Number(row.audioSeconds),
    device_seconds: Number(row.deviceSeconds),
    added_bytes: Number(row.fileBytes) + Number(row.outputBytes),
  }))
}

export async function bytesThatExpire(store: Store, before: string): Promise<number> {
  const files = await store
    .selectFrom('files')
    .select(({ fn }) => fn.sum<number | null>('file_size').as('sum'))
    .where('media_removed_at', 'is', null)
    .where('expires_at', '<', before)
    .executeTakeFirstOrThrow()
  const outputs = await store
    .selectFrom('requests')
    .select(({ fn }) => fn.sum<number | null>('media_bytes').as('sum'))
    .where('media_removed_at', 'is', null)
    .where('outputs_expire_at', '<', before)
    .executeTakeFirstOrThrow()
  return Number(files.sum) + Number(outputs.sum)
}
