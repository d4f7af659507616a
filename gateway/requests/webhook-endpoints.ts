/**
 * Manages webhook endpoints: addresses of an account that receive the events of all its requests,
 * beside the `webhookUrl` of each (docs/decisions/api.md).
 */

import { isoTime } from '../../shared/clock.ts'
import { DAY_SECONDS, SECOND_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import { assertAccount, record } from '../accounts/accounts.ts'
import { assertMayChange, authored, type OwnKeyDeps } from '../accounts/own-keys.ts'
import {
  checkChangeEndpoint,
  checkCreateEndpoint,
  checkRotateEndpoint,
  OVERLAP_SECONDS,
  type WebhookEndpoint,
} from '../api/endpoint-schemas.ts'
import { EVENT_TYPES } from '../api/webhook-schemas.ts'
import { encrypt, type Keys } from '../secrets.ts'
import { inTransaction, type Store } from '../store/database.ts'
import type { ChangeRow } from '../store/schema/tables.ts'
import type { WebhookEndpointRow } from '../store/schema/webhook-tables.ts'
import {
  changeEndpoint,
  deleteEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  type EndpointChange,
} from '../store/webhook-endpoints.ts'
import { DISABLED, endDeliveries } from '../webhooks/endpoint-health.ts'
import { newWebhookSecret } from '../webhooks/signature.ts'
import type { UrlChecks } from './submit/url-checks.ts'

export interface EndpointDeps extends OwnKeyDeps, Pick<UrlChecks, 'checkWebhookUrl'> {
  config: { encryptionKeys: Keys }
  /** Aborts when the client of the call is gone. */
  signal: AbortSignal
}

export const ENDPOINTS_MAX = 10

/**
 * Creates an endpoint from `body`, a CreateEndpointRequest, and returns its secret.
 * @throws ServiceError what is wrong with `body`; `INVALID_WEBHOOK_URL`; `RATE_LIMITED`
 */
export async function createEndpoint(deps: EndpointDeps, body: unknown) {
  const { url, events = EVENT_TYPES, description = '' } = checkCreateEndpoint(body)
  await checkUrl(deps, url)
  const [endpointId, secret] = [newId('ep'), newWebhookSecret()]
  const row: WebhookEndpointRow = {
    endpoint_id: endpointId,
    account_id: deps.caller.account_id,
    url,
    events: JSON.stringify(events),
    description,
    secret: encrypt(deps.config.encryptionKeys, endpointId, secret),
    old_secret: null,
    old_secret_ends_at: null,
    disabled_at: null,
    disabled_reason: null,
    failing_since: null,
    created_at: isoTime(deps.clock.now()),
  }
  await inTransaction(deps.store, async (store) => {
    await assertMayChange(deps, store, 'endpoints')
    await assertAccount(store, row.account_id, row.created_at)
    assertRoom(await listEndpoints(store, row.account_id))
    await insertEndpoint(store, row)
    await recordChange({ ...deps, store }, 'endpoint.create', row, { host: hostOf(url), events })
  })
  return { ...presentEndpoint(row), signing_secret: secret }
}

const checkUrl = ({ checkWebhookUrl, caller, signal }: EndpointDeps, url: string): Promise<void> =>
  checkWebhookUrl(url, { accountId: caller.account_id, signal, param: 'url' })

/** The path and the query may hold a secret, which the record of changes must not. */
const hostOf = (url: string): string => new URL(url).host

function assertRoom(endpoints: readonly WebhookEndpointRow[]): void {
  if (endpoints.length < ENDPOINTS_MAX) return
  const message = `An account may have ${ENDPOINTS_MAX} webhook endpoints: delete one.`
  throw new ServiceError('RATE_LIMITED', { message, retryAfterSeconds: DAY_SECONDS })
}

const recordChange = (
  deps: EndpointDeps,
  action: ChangeRow['action'],
  { endpoint_id, account_id }: WebhookEndpointRow,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> => record(authored(deps), action, { account_id }, { endpoint_id, ...details })

export const presentEndpoint = (row: WebhookEndpointRow): WebhookEndpoint => ({
  endpoint_id: row.endpoint_id,
  url: row.url,
  events: JSON.parse(row.events) as WebhookEndpoint['events'],
  description: row.description,
  enabled: row.disabled_at === null,
  disabled_at: row.disabled_at,
  disabled_reason: row.disabled_reason,
  failing_since: row.failing_since,
  old_secret_ends_at: row.old_secret_ends_at,
  created_at: row.created_at,
})

/** Returns the endpoints of an account, oldest first, without their secrets. */
export async function ownEndpoints(store: Store, accountId: string) {
  return { object: 'list', data: (await listEndpoints(store, accountId)).map(presentEndpoint) }
}

/** @throws ServiceError `NOT_FOUND`, also for endpoints of others */
export async function findOwnEndpoint(store: Store, accountId: string, endpointId: string) {
  const row = await findEndpoint(store, endpointId)
  if (row?.account_id === accountId) return row
  throw noEndpoint()
}

const noEndpoint = () =>
  new ServiceError('NOT_FOUND', { message: 'There is no webhook endpoint with this id.' })

/**
 * Changes what `body`, a ChangeEndpointRequest, names. If that disables the endpoint, the
 * deliveries that wait for it fail.
 * @throws ServiceError `NOT_FOUND`; what is wrong with `body`; `INVALID_WEBHOOK_URL`;
 *   `RATE_LIMITED`
 */
export async function updateEndpoint(deps: EndpointDeps, endpointId: string, body: unknown) {
  const { url, ...others } = checkChangeEndpoint(body)
  const { events, description, enabled } = others
  await findOwnEndpoint(deps.store, deps.caller.account_id, endpointId)
  if (url !== undefined) await checkUrl(deps, url)
  const now = isoTime(deps.clock.now())
  const row = await change(deps, endpointId, {
    action: 'endpoint.change',
    details: { ...(url !== undefined && { host: hostOf(url) }), ...others },
    setOf: ({ url: oldUrl, disabled_at: disabledAt }) => ({
      endpoint_id: endpointId, // a statement must set something
      ...(url !== undefined && { url }),
      ...(url !== undefined && url !== oldUrl && { failing_since: null }),
      ...(events && { events: JSON.stringify(events) }),
      ...(description !== undefined && { description }),
      ...(enabled === true && { disabled_at: null, disabled_reason: null, failing_since: null }),
      ...(enabled === false && { disabled_at: disabledAt ?? now }),
    }),
  })
  if (enabled === false) await endDeliveries(deps.store, endpointId, DISABLED)
  return presentEndpoint(row)
}

interface RecordedChange {
  action: ChangeRow['action']
  details: Readonly<Record<string, unknown>>
  setOf: (row: WebhookEndpointRow) => EndpointChange
}

/**
 * Changes an endpoint, and records the change.
 * @throws ServiceError `NOT_FOUND`, `RATE_LIMITED`
 */
const change = (
  deps: EndpointDeps,
  endpointId: string,
  { action, details, setOf }: RecordedChange,
): Promise<WebhookEndpointRow> =>
  inTransaction(deps.store, async (store) => {
    await assertMayChange(deps, store, 'endpoints')
    const row = await findOwnEndpoint(store, deps.caller.account_id, endpointId)
    await recordChange({ ...deps, store }, action, row, details)
    const changed = await changeEndpoint(store, endpointId, setOf(row))
    if (!changed) throw noEndpoint()
    return changed
  })

/**
 * Gives an endpoint a new secret, and returns it. The old one signs, too, for the time in `body`, a
 * RotateEndpointRequest.
 * @throws ServiceError `NOT_FOUND`; what is wrong with `body`; `RATE_LIMITED`
 */
export async function rotateEndpoint(deps: EndpointDeps, endpointId: string, body: unknown) {
  const { overlap_seconds: seconds = OVERLAP_SECONDS.default } = checkRotateEndpoint(
    body === undefined ? {} : body,
  )
  const secret = newWebhookSecret()
  const endsAt = isoTime(deps.clock.now() + seconds * SECOND_MS)
  const row = await change(deps, endpointId, {
    action: 'endpoint.rotate',
    details: { overlap_seconds: seconds },
    setOf: ({ secret: old }) => ({
      secret: encrypt(deps.config.encryptionKeys, endpointId, secret),
      old_secret: seconds > 0 ? old : null,
      old_secret_ends_at: seconds > 0 ? endsAt : null,
    }),
  })
  return { ...presentEndpoint(row), signing_secret: secret }
}

/**
 * Deletes an endpoint; what waits for it is not sent.
 * @throws ServiceError `NOT_FOUND`
 */
export async function removeEndpoint(deps: EndpointDeps, endpointId: string): Promise<void> {
  await inTransaction(deps.store, async (store) => {
    const row = await findOwnEndpoint(store, deps.caller.account_id, endpointId)
    await deleteEndpoint(store, endpointId)
    await recordChange({ ...deps, store }, 'endpoint.delete', row)
  })
  await endDeliveries(deps.store, endpointId, 'The endpoint was deleted.')
}
