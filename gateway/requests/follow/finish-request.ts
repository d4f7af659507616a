/** Finishes requests: changes the status, settles the credits and queues the webhooks. */

import { dayOfTime, isoTime, type Clock } from '../../../shared/clock.ts'
import type { FailureCode } from '../../../shared/errors.ts'
import { costOf } from '../../accounts/credits.ts'
import type { MediaPresenter } from '../present/presenter.ts'
import { inTransaction, type Store } from '../../store/database.ts'
import { insertDeliveries } from '../../store/deliveries.ts'
import { withdrawFromOutbox } from '../../store/outbox.ts'
import { moveRequest, type Move } from '../../store/requests.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import { addUse } from '../../store/usage.ts'
import { newDeliveries } from './webhook-event.ts'
import type { RequestFeed } from './request-feed.ts'

type TerminalMove = Move & { to: 'COMPLETED' | 'FAILED' }

/** A request that has ended, for `announceFinished`. */
export interface FinishedRequest {
  row: RequestRow
  /** Whether a delivery to one of its webhooks is due. */
  isWebhookDue: boolean
}

/**
 * Moves a request to a terminal state, removes its outbox entry, counts it in the account's usage
 * and writes the deliveries of its webhooks, all in the caller's transaction.
 * @returns the request as it ended, for `announceFinished`; null if it has already moved on
 */
export async function finishRequest(
  store: Store,
  move: TerminalMove,
  presenter: MediaPresenter,
): Promise<FinishedRequest | null> {
  const row = await moveRequest(store, move)
  if (!row) return null
  await withdrawFromOutbox(store, move.requestId)
  await addUse(store, {
    account_id: row.account_id,
    day: dayOfTime(move.now),
    completed: row.status === 'COMPLETED' ? 1 : 0,
    failed: row.status === 'FAILED' ? 1 : 0,
    audio_seconds: row.status === 'COMPLETED' ? costOf(row, row.duration ?? 0) : 0,
  })
  const deliveries = await newDeliveries(store, row, presenter)
  await insertDeliveries(store, deliveries)
  return { row, isWebhookDue: deliveries.some(({ state }) => state === 'pending') }
}

/** Returns the move that fails a request. */
export const failedMove = (
  { code, message }: { code: FailureCode; message: string },
  now: string,
): Pick<TerminalMove, 'to' | 'now' | 'set'> => ({
  to: 'FAILED',
  now,
  set: { error_code: code, error_message: message, finished_at: now },
})

/** Told when a request has finished. */
interface FinishListeners {
  feed: Pick<RequestFeed, 'forget' | 'rowChanged'>
  metrics: { finished(row: RequestRow): void }
  wakeWebhooks: () => void
}

/**
 * Tells the status streams and the webhook sender that a request has ended. Call it once that is
 * committed.
 */
export function announceFinished(
  { feed, metrics, wakeWebhooks }: FinishListeners,
  { row, isWebhookDue }: FinishedRequest,
): void {
  metrics.finished(row)
  feed.forget(row.request_id)
  feed.rowChanged(row.request_id, row)
  if (isWebhookDue) wakeWebhooks()
}

export interface FinishDeps extends MediaPresenter, FinishListeners {
  store: Store
  clock: Clock
}

interface Failure {
  code: FailureCode
  message: string
  /** Runs in the same transaction, but only if the request had not finished before. */
  inSameTransaction?: ((store: Store) => Promise<void>) | undefined
}

/** Moves a request to FAILED. Returns false if it has finished already. */
export async function failRequest(
  deps: FinishDeps,
  requestId: string,
  { code, message, inSameTransaction }: Failure,
): Promise<boolean> {
  const now = isoTime(deps.clock.now())
  const finished = await inTransaction(deps.store, async (store) => {
    const move = { requestId, ...failedMove({ code, message }, now) }
    const finished = await finishRequest(store, move, deps)
    if (finished) await inSameTransaction?.(store)
    return finished
  })
  if (finished) announceFinished(deps, finished)
  return finished !== null
}
