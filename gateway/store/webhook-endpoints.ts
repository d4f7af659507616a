/** The addresses of accounts that receive the events of all their requests. */

import { sql, type Updateable } from 'kysely'
import { isId } from '../../shared/ids.ts'
import type { Store } from './database.ts'
import type { Tables } from './schema/tables.ts'
import type { WebhookEndpointRow } from './schema/webhook-tables.ts'

/** An endpoint with the address that was posted to; it may have another one by now. */
export interface EndpointAddress {
  endpointId: string
  url: string
}

export type EndpointChange = Updateable<Tables['webhook_endpoints']>

export async function insertEndpoint(store: Store, row: WebhookEndpointRow): Promise<void> {
  await store.insertInto('webhook_endpoints').values(row).execute()
}

/** Returns the endpoints of an account, oldest first. */
export const listEndpoints = (store: Store, accountId: string): Promise<WebhookEndpointRow[]> =>
  store
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('endpoint_id')
    .execute()

/** @param endpointId any text, as a client may have sent it */
export const findEndpoint = async (store: Store, endpointId: string) =>
  isId(endpointId)
    ? store
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('endpoint_id', '=', endpointId)
        .executeTakeFirst()
    : undefined

/** Returns the secrets that sign at a time, encrypted; the new one first. */
export const secretsOf = (row: WebhookEndpointRow, now: string): string[] =>
  row.old_secret !== null && (row.old_secret_ends_at ?? '') > now
    ? [row.secret, row.old_secret]
    : [row.secret]

/** Changes an endpoint and returns it as it is then; undefined if there is none with this id. */
export const changeEndpoint = (store: Store, endpointId: string, set: EndpointChange) =>
  store
    .updateTable('webhook_endpoints')
    .set(set)
    .where('endpoint_id', '=', endpointId)
    .returningAll()
    .executeTakeFirst()

export async function deleteEndpoint(store: Store, endpointId: string): Promise<void> {
  await store.deleteFrom('webhook_endpoints').where('endpoint_id', '=', endpointId).execute()
}

export async function deleteEndpointsOf(store: Store, accountId: string): Promise<void> {
  await store.deleteFrom('webhook_endpoints').where('account_id', '=', accountId).execute()
}

/**
 * Notes that an attempt has failed. Returns the endpoint; undefined if it was deleted or has
 * another address.
 */
export const noteFailing = (store: Store, { endpointId, url }: EndpointAddress, now: string) =>
  store
    .updateTable('webhook_endpoints')
    .set({ failing_since: sql`coalesce(failing_since, ${now})` })
    .where('endpoint_id', '=', endpointId)
    .where('url', '=', url)
    .returningAll()
    .executeTakeFirst()

/** Notes that an attempt has succeeded. */
export async function noteWorking(store: Store, { endpointId, url }: EndpointAddress) {
  await store
    .updateTable('webhook_endpoints')
    .set({ failing_since: null })
    .where('endpoint_id', '=', endpointId)
    .where('url', '=', url)
    .where('failing_since', 'is not', null)
    .execute()
}

/**
 * Disables an endpoint that is enabled and has this address. Returns undefined if there is none.
 * @param reason shown to its account, which has not disabled the endpoint itself
 */
export const disableEndpoint = (
  store: Store,
  { endpointId, url }: EndpointAddress,
  { now, reason }: { now: string; reason: string },
): Promise<WebhookEndpointRow | undefined> =>
  store
    .updateTable('webhook_endpoints')
    .set({ disabled_at: now, disabled_reason: reason })
    .where('endpoint_id', '=', endpointId)
    .where('url', '=', url)
    .where('disabled_at', 'is', null)
    .returningAll()
    .executeTakeFirst()

/** Returns a page of the endpoints of all accounts, in the order of their ids. */
export const listAllEndpoints = (
  store: Store,
  { after, limit }: { after: string; limit: number },
): Promise<WebhookEndpointRow[]> =>
  store
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('endpoint_id', '>', after)
    .orderBy('endpoint_id')
    .limit(limit)
    .execute()

type Secrets = Pick<WebhookEndpointRow, 'secret' | 'old_secret'>

/** Replaces the encrypted secrets, unless they were rotated since `row` was read. */
export async function replaceSecrets(store: Store, row: WebhookEndpointRow, secrets: Secrets) {
  await store
    .updateTable('webhook_endpoints')
    .set(secrets)
    .where('endpoint_id', '=', row.endpoint_id)
    .where('secret', '=', row.secret)
    .execute()
}
