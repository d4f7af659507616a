/** The only way to the end of a request: the move, and with it what the end brings about. */

import type { AppConfig } from './deps.ts'
import type { Store } from './store/database.ts'
import { insertDelivery } from './store/deliveries.ts'
import { findRequest, moveRequest, type Move } from './store/requests.ts'
import { newDelivery } from './webhook-event.ts'

type Ending = Move & { to: 'COMPLETED' | 'FAILED' }

/**
 * Moves a request to its end and writes the webhook that tells of it, in the caller's transaction;
 * false when it has already moved on.
 */
export async function finishRequest(
  store: Store, ending: Ending, config: AppConfig,
): Promise<boolean> {
  if (!await moveRequest(store, ending)) return false
  const row = await findRequest(store, ending.requestId)
  const delivery = row ? newDelivery(row, config) : null
  if (delivery) await insertDelivery(store, delivery)
  return true
}
