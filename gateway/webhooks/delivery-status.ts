/** The delivery state of a request's webhook, and its redelivery. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { isTerminal } from '../../shared/request-status.ts'
import type { DeliveryAttemptList, WebhookDeliveryStatus } from '../api/schemas.ts'
import type { Store } from '../store/database.ts'
import { changeDelivery, findDelivery } from '../store/deliveries.ts'
import { readAttempts } from '../store/delivery-attempts.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import type { DeliveryRow } from '../store/schema/webhook-tables.ts'

const UNTRIED: WebhookDeliveryStatus = {
  delivery_status: 'pending',
  attempts: 0,
  delivered_at: null,
  last_error: null,
}

export async function webhookStatusOf(store: Store, row: RequestRow) {
  if (row.webhook_url === null) return undefined
  const delivery = isTerminal(row.status) ? await findDelivery(store, row.request_id) : undefined
  return delivery ? presentDelivery(delivery) : UNTRIED
}

/**
 * Returns the attempts to deliver a webhook.
 * @throws ServiceError `NOT_FOUND` if the request has no webhook
 */
export async function attemptsOf(store: Store, row: RequestRow): Promise<DeliveryAttemptList> {
  if (row.webhook_url === null) throw noWebhook()
  const delivery = await findDelivery(store, row.request_id)
  const attempts = delivery ? await readAttempts(store, delivery.webhook_id) : []
  return {
    object: 'list',
    data: attempts.map(({ started_at, duration_ms, status_code, error }) => ({
      started_at,
      duration_ms,
      status_code,
      error,
    })),
  }
}

type PresentedDelivery = Pick<DeliveryRow, 'state' | 'attempts' | 'delivered_at' | 'last_error'>

const noWebhook = () => new ServiceError('NOT_FOUND', { message: 'The request has no webhookUrl.' })

const presentDelivery = (row: PresentedDelivery): WebhookDeliveryStatus => ({
  delivery_status: row.state,
  attempts: row.attempts,
  delivered_at: row.delivered_at,
  last_error: row.last_error,
})

/** Returns also when the next attempt is due, if one is; for lists of deliveries. */
export const presentListed = (row: PresentedDelivery & Pick<DeliveryRow, 'next_attempt_at'>) => ({
  ...presentDelivery(row),
  next_attempt_at: row.state === 'pending' ? row.next_attempt_at : null,
})

export interface RedeliveryDeps {
  store: Store
  clock: Clock
  wakeWebhooks: () => void
}

/**
 * Delivers a finished request's webhook again, with the same id and body, starting over at the
 * first attempt. An attempt that is in progress continues and counts as the first.
 * @throws ServiceError `NOT_FOUND` if the request has no webhook, `RESULT_NOT_READY` if it has not
 *   ended
 */
export async function redeliver(
  { store, clock, wakeWebhooks }: RedeliveryDeps,
  row: RequestRow,
): Promise<WebhookDeliveryStatus> {
  if (row.webhook_url === null) throw noWebhook()
  for (;;) {
    const delivery = await findDelivery(store, row.request_id)
    if (!delivery) {
      throw new ServiceError('RESULT_NOT_READY', {
        message: `The webhook is sent when the request has finished; it is ${row.status}.`,
      })
    }
    const plan = restartPlan(delivery, isoTime(clock.now()))
    const fresh = { ...plan, delivered_at: null, last_error: null }
    // a sender has changed the row in the meantime
    if (!(await changeDelivery(store, delivery, fresh))) continue
    wakeWebhooks()
    return presentDelivery({ ...delivery, ...fresh })
  }
}

const restartPlan = ({ state }: DeliveryRow, now: string) =>
  state === 'sending'
    ? { attempts: 1, first_attempt_at: now }
    : { state: 'pending' as const, attempts: 0, next_attempt_at: now }
