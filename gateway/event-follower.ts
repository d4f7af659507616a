/**
 * Turns what engines report into moves of requests. Events come at least once and not always in
 * order; each is one transaction with a guard, so that a late or repeated one changes nothing.
 */

import type { Event } from '../shared/messages.ts'
import { isTerminal } from '../shared/request-status.ts'
import { isoTime, type Deps } from './deps.ts'
import { finishRequest } from './finish-request.ts'
import { inTransaction, type Store } from './store/database.ts'
import { withdrawFromOutbox } from './store/outbox.ts'
import { appendLogs } from './store/request-logs.ts'
import { findRequest, moveRequest, startAttempt } from './store/requests.ts'

type FollowerDeps = Pick<
  Deps, 'store' | 'feed' | 'fleet' | 'clock' | 'log' | 'config' | 'wakeWebhooks'
>

const DAY_MS = 86_400_000

/** A handler for `broker.followEvents`: the event may be acknowledged when it resolves. */
export const createEventHandler = (deps: FollowerDeps) => async (event: Event): Promise<void> => {
  const { request_id: requestId, attempt_id: attemptId, engine_id: engineId } = event
  const moved = await inTransaction(deps.store, async (store) => {
    const moved = await applyEvent(store, event, deps)
    if (moved) await appendLogs(store, requestId, event.logs)
    return moved
  })
  deps.log.info({ requestId, attemptId, engineId, event: event.type, moved }, 'event')
  if (!moved) return stopIfFinished(event, deps)
  if (event.type === 'completed' || event.type === 'failed') {
    deps.feed.forget(requestId)
    deps.wakeWebhooks()
  }
  deps.feed.rowChanged(requestId)
}

/** Whether the event moved its request. */
async function applyEvent(
  store: Store, event: Event, { clock, config }: FollowerDeps,
): Promise<boolean> {
  const { request_id: requestId, attempt_id: attemptId } = event
  const now = isoTime(clock.now())
  switch (event.type) {
    case 'started': {
      const start = { requestId, attemptId, engineId: event.engine_id, startedAt: event.at, now }
      return startAttempt(store, start)
    }
    case 'released':
      return moveRequest(store, { requestId, attemptId, to: 'IN_QUEUE', now })
    case 'failed': // a stale attempt must not fail what another is working on
      return finishRequest(store, {
        requestId, attemptId, to: 'FAILED', now,
        set: {
          error_code: event.error.code, error_message: event.error.message, finished_at: now,
        },
      }, config)
    case 'completed': // of any attempt: all of them give the same result
      await withdrawFromOutbox(store, requestId)
      return finishRequest(store, {
        requestId, to: 'COMPLETED', now,
        set: {
          duration: event.duration,
          sample_rate: event.sample_rate,
          outputs: JSON.stringify(event.outputs),
          finished_at: now,
          outputs_expire_at: isoTime(clock.now() + config.outputDays * DAY_MS),
        },
      }, config)
  }
}

/** An engine that begins on a finished request, such as a canceled one, is told to stop. */
async function stopIfFinished(event: Event, { store, fleet }: FollowerDeps): Promise<void> {
  if (event.type !== 'started') return
  const row = await findRequest(store, event.request_id)
  if (!row || isTerminal(row.status)) await fleet.cancel(event.engine_id, event.request_id)
}
