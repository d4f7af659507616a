/** Finds requests that no engine works on, and fails them or queues them again. */

import { isoTime } from '../../../shared/clock.ts'
import { MINUTE_MS } from '../../../shared/durations.ts'
import type { Broker } from '../../../shared/broker/broker.ts'
import { Loop } from '../../loop.ts'
import { failRequest, type FinishDeps } from './finish-request.ts'
import { INTERRUPTIONS_MAX, interruptedTooOften } from './release-request.ts'
import { inTransaction } from '../../store/database.ts'
import { putInOutbox } from '../../store/outbox.ts'
import {
  listWithJobs,
  requeueRequest,
  UNFINISHED,
  type RequestPosition,
} from '../../store/requests.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import type { RequestStatus } from '../../../shared/request-status.ts'
import type { Logger } from '../../../shared/telemetry/log.ts'

interface RescuerDeps extends FinishDeps {
  broker: Pick<Broker, 'hasJob'>
  log: Logger
  wakePublisher: () => void
}

const EVERY_MS = MINUTE_MS
/**
 * Requests that changed more recently are skipped, because their events may still be in transit.
 */
const UNTOUCHED_MS = 2 * MINUTE_MS
/** After this many failures in one turn, the remaining requests wait for the next turn. */
const FAILURES_MAX = 3
/** The number of requests checked in one turn. The next turn continues where this one ended. */
const PAGE_MAX = 1_000
const FIRST_PAGE: RequestPosition = { created_at: '', request_id: '' }

interface RescueScope {
  statuses: readonly RequestStatus[]
  /** Only requests that have been unchanged for this long; 0 for all. */
  untouchedMs: number
}

const ORDINARY: RescueScope = { statuses: UNFINISHED, untouchedMs: UNTOUCHED_MS }
/**
 * After the broker has lost its streams. Requests in progress are left alone, because their engines
 * may still finish them.
 */
const AFTER_LOSS: RescueScope = { statuses: ['IN_QUEUE'], untouchedMs: 0 }

export interface Rescuer extends Pick<Loop, 'start' | 'stop'> {
  /** Checks queued requests at once, because the broker has lost everything that it stored. */
  streamsLost(): void
}

/**
 * Creates a loop that queues requests again whose job was lost, for example with the broker's disk.
 */
export function createRescuer(deps: RescuerDeps): Rescuer {
  let page = FIRST_PAGE
  let isLost = false
  const loop = new Loop({
    name: 'rescuer',
    everyMs: EVERY_MS,
    log: deps.log,
    turn: async () => {
      if (isLost) await rescue(deps, FIRST_PAGE, AFTER_LOSS)
      isLost = false
      page = await rescue(deps, page)
    },
  })
  return {
    start: (delayMs) => loop.start(delayMs),
    stop: () => loop.stop(),
    streamsLost() {
      isLost = true
      loop.wake()
    },
  }
}

/** Checks one page of requests. Returns where the next page begins. */
export async function rescue(
  deps: RescuerDeps,
  after: RequestPosition = FIRST_PAGE,
  { statuses, untouchedMs }: RescueScope = ORDINARY,
): Promise<RequestPosition> {
  const now = deps.clock.now()
  const unchanged = untouchedMs > 0 && {
    unchanged: { before: isoTime(now - untouchedMs), latest: isoTime(now + untouchedMs) },
  }
  const rows = await listWithJobs(deps.store, { statuses, ...unchanged, limit: PAGE_MAX, after })
  let failures = 0
  for (const row of rows) {
    try {
      await rescueOne(deps, row)
    } catch (error) {
      // one failure must not block the requests behind it
      const { request_id: requestId } = row
      deps.log.error(
        { err: error, requestId },
        'a request could not be rescued; the next turn retries',
      )
      failures += 1
      if (failures === FAILURES_MAX) return row
    }
  }
  const last = rows.at(-1)
  return rows.length === PAGE_MAX && last ? last : FIRST_PAGE
}

/**
 * Queues a request again if its job is lost. If the request was waiting, the broker lost the job,
 * which never fails the request. If it was in progress, an engine may have been lost, so that
 * counts as an interruption.
 */
async function rescueOne(deps: RescuerDeps, row: RequestRow): Promise<void> {
  const { request_id: requestId, job_sequence: sequence } = row
  if (sequence !== null && (await deps.broker.hasJob(requestId, sequence))) return
  const interruptions = row.interruptions + (row.status === 'IN_PROGRESS' ? 1 : 0)
  if (interruptions < INTERRUPTIONS_MAX) return queueAgain(deps, row, interruptions)
  deps.log.error({ requestId, interruptions }, 'the job of a request is lost every time')
  const message = interruptedTooOften(interruptions)
  await failRequest(deps, requestId, { code: 'ENGINE_LOST', message })
}

async function queueAgain(deps: RescuerDeps, row: RequestRow, interruptions: number) {
  const { request_id: requestId, created_at } = row
  const now = isoTime(deps.clock.now())
  const requeued = await inTransaction(deps.store, async (store) => {
    if (!(await requeueRequest(store, row, { now, interruptions }))) return false
    // The broker must not drop it as a repeat of the lost job.
    const messageId = `${requestId}-${row.requeues + 1}`
    // It keeps its place in the queue.
    const waiting = { message_id: messageId, request_id: requestId, created_at }
    await putInOutbox(store, waiting, row.priority)
    return true
  })
  if (!requeued) return
  deps.log.warn({ requestId }, 'the job of a request was lost; queued again')
  deps.feed.rowChanged(requestId)
  deps.wakePublisher()
}
