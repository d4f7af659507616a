/** What can be done with requests: submit, read, list, cancel. Every way in calls this. */

import { ServiceError, type FailureCode } from '../shared/errors.ts'
import { newId } from '../shared/ids.ts'
import type { LogLine } from '../shared/messages.ts'
import { isoTime, type Deps } from './deps.ts'
import { presentStatus } from './presenter.ts'
import type { QueueStatusResponse } from './schemas.ts'
import { assertRoom } from './queue-limit.ts'
import { assertKept, checkSource } from './source.ts'
import { inTransaction, type Store } from './store/database.ts'
import { putInOutbox, withdrawFromOutbox } from './store/outbox.ts'
import {
  findRequest, insertRequest, listRequests, moveRequest, type PageStart,
} from './store/requests.ts'
import { inSharedTransaction } from './store/shared-transaction.ts'
import type { RequestRow } from './store/tables.ts'
import type { Submission } from './validation.ts'

interface SubmitOptions {
  /** Runs first in the transaction that stores the request; when it throws, nothing is stored. */
  first?: (store: Store, row: RequestRow) => Promise<void>
}

/** Accepts a request: once this resolves, it ends COMPLETED or FAILED, whatever breaks. */
export async function submit(
  deps: Deps, accountId: string, submission: Submission, { first }: SubmitOptions = {},
): Promise<RequestRow> {
  const source = await checkSource(submission.source, accountId, deps)
  const row = newRow(accountId, submission, source, isoTime(deps.clock.now()))
  try {
    await inSharedTransaction(deps.store, async (store) => {
      await first?.(store, row)
      await insertRequest(store, row)
      await putInOutbox(store, {
        message_id: row.request_id, request_id: row.request_id, created_at: row.created_at,
      })
      await assertKept(store, row)
      await assertRoom(store, accountId, deps.config)
    })
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('QUEUE_UNAVAILABLE', { cause })
  }
  deps.feed.rowChanged(row.request_id)
  deps.wakePublisher()
  return row
}

function newRow(
  accountId: string, { prompt, options, metadata }: Submission,
  source: Pick<RequestRow, 'file_id' | 'audio_url' | 'file_name'>, now: string,
): RequestRow {
  return {
    request_id: newId('req'),
    account_id: accountId,
    status: 'IN_QUEUE',
    prompt,
    options: JSON.stringify(options),
    ...source,
    metadata,
    created_at: now,
    updated_at: now,
    started_at: null,
    finished_at: null,
    attempt_id: null,
    attempt_ids: '',
    attempts: 0,
    engine_id: null,
    job_sequence: null,
    requeues: 0,
    duration: null,
    sample_rate: null,
    outputs: null,
    outputs_expire_at: null,
    error_code: null,
    error_message: null,
    media_removed_at: null,
  }
}

/** @throws ServiceError `NOT_FOUND` for a request that is not there or not the account's */
export async function findOwn(
  { store }: Deps, accountId: string, requestId: string,
): Promise<RequestRow> {
  const row = await findRequest(store, requestId)
  if (row?.account_id === accountId) return row
  throw new ServiceError('NOT_FOUND', { message: 'There is no request with this id.' })
}

export const list = (
  { store }: Deps, accountId: string, page: { limit: number; after?: PageStart },
): Promise<RequestRow[]> => listRequests(store, accountId, page)

/** The status response of a request, with `logs` where they are given. */
export async function statusOf(
  { feed, queuePositions, config }: Deps, row: RequestRow, logs?: LogLine[],
): Promise<QueueStatusResponse> {
  const { request_id: requestId, attempt_id: attemptId, status } = row
  const queuePosition = status === 'IN_QUEUE' ? await queuePositions.of(requestId) : undefined
  const progress = feed.progressOf(requestId, attemptId)
  return presentStatus(row, { progress, queuePosition, logs }, config)
}

/**
 * Ends a request as CANCELED, and takes it from the queue or from its engine. The row moves first,
 * so that a request is canceled even when nobody else can be told.
 * @throws ServiceError `REQUEST_FINISHED`
 */
export async function cancel(deps: Deps, row: RequestRow): Promise<RequestRow> {
  const canceled = await failRequest(deps, row.request_id, 'CANCELED', 'The request was canceled.')
  const now = await findOwn(deps, row.account_id, row.request_id)
  if (!canceled) {
    throw new ServiceError('REQUEST_FINISHED', {
      message: `The request has already finished: it is ${now.status}.`,
    })
  }
  const { request_id: requestId, job_sequence: sequence, engine_id: engineId } = now
  if (sequence !== null) {
    await deps.broker.removeJob(sequence).catch((error: unknown) => {
      deps.log.warn({ err: error, requestId }, 'the job of a canceled request stays in the queue')
    })
  }
  if (engineId !== null) await deps.fleet.cancel(engineId, requestId)
  return now
}

/** Moves a request to FAILED; false when it is finished already. */
export async function failRequest(
  { store, feed, clock }: Pick<Deps, 'store' | 'feed' | 'clock'>,
  requestId: string, code: FailureCode, message: string,
): Promise<boolean> {
  const now = isoTime(clock.now())
  const failed = await inTransaction(store, async (store) => {
    await withdrawFromOutbox(store, requestId)
    return moveRequest(store, {
      requestId, to: 'FAILED', now,
      set: { error_code: code, error_message: message, finished_at: now },
    })
  })
  if (failed) {
    feed.forget(requestId)
    feed.rowChanged(requestId)
  }
  return failed
}
