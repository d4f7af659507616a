/**
 * Makes the bodies of a request's webhooks. That happens once, when the request ends, so they are
 * the same in every attempt.
 */

import { newId } from '../../../shared/ids.ts'
import { currentTraceParent } from '../../../shared/telemetry/tracing.ts'
import { failureOf, modelOf, presentResult, type MediaPresenter } from '../present/presenter.ts'
import { falEvent } from '../../api/fal-shapes.ts'
import type { Store } from '../../store/database.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import type { DeliveryRow, WebhookEndpointRow } from '../../store/schema/webhook-tables.ts'
import { listEndpoints } from '../../store/webhook-endpoints.ts'
import { eventTypeOf, type WebhookEvent } from '../../api/webhook-schemas.ts'
import { DISABLED } from '../../webhooks/endpoint-health.ts'

/**
 * Returns the deliveries of a request that is COMPLETED or FAILED, due at once: to its `webhookUrl`
 * and to the endpoints of its account that receive such events. Those of disabled endpoints have
 * failed already, so that they can be replayed later.
 */
export async function newDeliveries(
  store: Store,
  row: RequestRow,
  presenter: MediaPresenter,
): Promise<DeliveryRow[]> {
  const { webhook_url: url, finished_at: finishedAt, account_id: accountId } = row
  if (finishedAt === null) return []
  const endpoints = (await listEndpoints(store, accountId)).filter((endpoint) =>
    (JSON.parse(endpoint.events) as string[]).includes(eventTypeOf(row)),
  )
  if (url === null && endpoints.length === 0) return []
  const event = await webhookEvent(row, finishedAt, presenter)
  return [
    ...(url === null ? [] : [deliveryOf(row, finishedAt, { url, body: bodyOf(row, event) })]),
    ...endpoints.map((endpoint) => ({
      ...deliveryOf(row, finishedAt, {
        url: endpoint.url,
        body: withMetadata(event, row.metadata),
      }),
      ...ofEndpoint(endpoint),
    })),
  ]
}

const deliveryOf = (
  row: RequestRow,
  finishedAt: string,
  { url, body }: { url: string; body: string },
): DeliveryRow => ({
  webhook_id: newId('msg'),
  request_id: row.request_id,
  endpoint_id: null,
  account_id: row.account_id,
  host: new URL(url).host,
  body,
  state: 'pending',
  attempts: 0,
  first_attempt_at: null,
  next_attempt_at: finishedAt,
  claim_id: null,
  delivered_at: null,
  last_error: null,
  created_at: finishedAt,
  trace_parent: currentTraceParent(),
})

const ofEndpoint = ({
  endpoint_id,
  disabled_at: disabledAt,
}: WebhookEndpointRow): Partial<DeliveryRow> =>
  disabledAt === null
    ? { endpoint_id }
    : { endpoint_id, state: 'failed', next_attempt_at: null, last_error: DISABLED }

const bodyOf = ({ webhook_format: format, metadata }: RequestRow, event: WebhookEvent): string =>
  format === 'fal' ? JSON.stringify(falEvent(event)) : withMetadata(event, metadata)

/** The metadata is inserted as text: parsing it would round its large numbers. */
const withMetadata = (event: object, metadata: string | null): string => {
  const json = JSON.stringify(event)
  return metadata === null ? json : `${json.slice(0, -1)},"metadata":${metadata}}`
}

async function webhookEvent(
  row: RequestRow,
  finishedAt: string,
  presenter: MediaPresenter,
): Promise<WebhookEvent> {
  const { request_id, created_at } = row
  const common = { request_id, model: modelOf(row) }
  if (row.status === 'FAILED') {
    return {
      type: eventTypeOf(row),
      ...common,
      status: 'FAILED',
      created_at,
      failed_at: finishedAt,
      error: failureOf(row),
    } as WebhookEvent
  }
  const { data, usage } = await presentResult(row, presenter)
  return {
    type: eventTypeOf(row),
    ...common,
    status: 'COMPLETED',
    created_at,
    completed_at: finishedAt,
    data,
    usage,
  } as WebhookEvent
}
