/**
 * Makes the body of a webhook. That happens once, when the request ends, so it is the same in every
 * attempt.
 */

import { newId } from '../../../shared/ids.ts'
import { currentTraceParent } from '../../../shared/telemetry/tracing.ts'
import { failureOf, modelOf, presentResult, type MediaPresenter } from '../present/presenter.ts'
import { falEvent } from '../../api/fal-shapes.ts'
import type { DeliveryRow, RequestRow } from '../../store/schema/tables.ts'
import type { WebhookEvent } from '../../api/webhook-schemas.ts'

/**
 * Returns the delivery of a request that is COMPLETED or FAILED, due at once; null if it has no
 * webhook.
 */
export async function newDelivery(
  row: RequestRow,
  presenter: MediaPresenter,
): Promise<DeliveryRow | null> {
  const { webhook_url: url, finished_at: finishedAt } = row
  if (url === null || finishedAt === null) return null
  return {
    webhook_id: newId('msg'),
    request_id: row.request_id,
    account_id: row.account_id,
    host: new URL(url).host,
    body: bodyOf(row, await webhookEvent(row, finishedAt, presenter)),
    state: 'pending',
    attempts: 0,
    first_attempt_at: null,
    next_attempt_at: finishedAt,
    claim_id: null,
    delivered_at: null,
    last_error: null,
    created_at: finishedAt,
    trace_parent: currentTraceParent(),
  }
}

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
  const { request_id, created_at, kind } = row
  const common = { request_id, model: modelOf(row) }
  if (row.status === 'FAILED') {
    return {
      type: `audio.${kind}.failed`,
      ...common,
      status: 'FAILED',
      created_at,
      failed_at: finishedAt,
      error: failureOf(row),
    } as WebhookEvent
  }
  const { data, usage } = await presentResult(row, presenter)
  return {
    type: `audio.${kind}.completed`,
    ...common,
    status: 'COMPLETED',
    created_at,
    completed_at: finishedAt,
    data,
    usage,
  } as WebhookEvent
}
