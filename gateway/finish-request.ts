/** The only way to the end of a request: the move, and with it what the end brings about. */

import type { FailureCode } from '../shared/errors.ts'
import type { AppConfig } from './deps.ts'
import type { Store } from './store/database.ts'
import { insertDelivery } from './store/deliveries.ts'
import { withdrawFromOutbox } from './store/outbox.ts'
import { findRequest, moveRequest, type Move } from './store/requests.ts'
import { newDelivery } from './webhook-event.ts'

type Ending = Move & { to: 'COMPLETED' | 'FAILED' }

/**
 * Moves a request to its end, takes back a job that nobody has yet and writes the webhook that
 * tells of it, in the caller's transaction; false when it has already moved on.
 */
export async function finishRequest(
  store: Store, ending: Ending, config: AppConfig,
): Promise<boolean> {
  if (!await moveRequest(store, ending)) return false
  await withdrawFromOutbox(store, ending.requestId)
  const row = await findRequest(store, ending.requestId)
  const delivery = row ? newDelivery(row, config) : null
  if (delivery) await insertDelivery(store, delivery)
  return true
}

/** How a request fails. */
export const failure = (
  { code, message }: { code: FailureCode; message: string }, now: string,
): Pick<Ending, 'to' | 'now' | 'set'> => ({
  to: 'FAILED', now, set: { error_code: code, error_message: message, finished_at: now },
})
