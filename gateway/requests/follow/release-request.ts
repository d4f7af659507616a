/** Handles a request that an engine releases: it is queued again, or fails. */

import { isoTime } from '../../../shared/clock.ts'
import type { Event } from '../../../shared/messages.ts'
import { currentTraceParent } from '../../../shared/telemetry/tracing.ts'
import { failedMove, finishRequest, type FinishedRequest } from './finish-request.ts'
import type { MediaPresenter } from '../present/presenter.ts'
import type { Store } from '../../store/database.ts'
import { putInOutbox } from '../../store/outbox.ts'
import { moveRequest } from '../../store/requests.ts'
import type { RequestRow } from '../../store/schema/tables.ts'

type ReleasedEvent = Extract<Event, { type: 'released' }>

/** A request that is interrupted this many times fails. */
export const INTERRUPTIONS_MAX = 6

export const interruptedTooOften = (interruptions: number): string =>
  `The request was interrupted ${interruptions} times, and no attempt was finished.`

/**
 * The delay after an interruption: 5 s at first, then three times as long each time (10 min in
 * total).
 */
const retryDelayMs = (interruptions: number): number => 5_000 * 3 ** (interruptions - 1)

/**
 * Queues a request again, in the caller's transaction. It gets a new job, because the broker counts
 * the deliveries of each job: that count then grows only when an engine is lost. A release for a
 * drain or an outage is neither delayed nor counted, since an engine that cannot reach the media
 * store leases no jobs. After an interruption the request is delayed, and the number of
 * interruptions is limited.
 * @param row the request, locked by the transaction
 * @param now epoch milliseconds
 * @returns the request if it has failed, 'queued' if it is queued again, or null if the attempt
 *   does not hold it
 */
export async function releaseRequest(
  store: Store,
  row: RequestRow | undefined,
  { request_id: requestId, attempt_id: attemptId, cause }: ReleasedEvent,
  { now, presenter }: { now: number; presenter: MediaPresenter },
): Promise<FinishedRequest | 'queued' | null> {
  if (row?.status !== 'IN_PROGRESS' || row.attempt_id !== attemptId) return null
  const move = { requestId, attemptId, now: isoTime(now) }
  const isInterrupted = cause === 'interruption'
  const interruptions = row.interruptions + (isInterrupted ? 1 : 0)
  if (interruptions >= INTERRUPTIONS_MAX) {
    const message = interruptedTooOften(interruptions)
    const end = failedMove({ code: 'ENGINE_LOST', message }, move.now)
    return finishRequest(store, { ...move, ...end }, presenter)
  }
  await moveRequest(store, { ...move, to: 'IN_QUEUE', set: { job_sequence: null, interruptions } })
  const waiting = {
    // The broker must not drop the new job as a repeat of the old one.
    message_id: `${requestId}-${attemptId}`,
    request_id: requestId,
    created_at: row.created_at, // it keeps its place in the queue
    not_before: isInterrupted ? isoTime(now + retryDelayMs(interruptions)) : null,
    trace_parent: currentTraceParent(),
  }
  await putInOutbox(store, waiting, row.priority)
  return 'queued'
}
