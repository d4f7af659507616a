/** What can be done with requests: submit, read, list, cancel. Every way in calls this. */

import { ServiceError, type FailureCode } from '../shared/errors.ts'
import { newId } from '../shared/ids.ts'
import type { LogLine } from '../shared/messages.ts'
import { isoTime, type Deps } from './deps.ts'
import { failureOf, presentResult, presentStatus } from './presenter.ts'
import { cursorAfter, pageStartOf } from './query.ts'
import type { QueueResultResponse, QueueStatusResponse, RequestList } from './schemas.ts'
import { checkSource } from './source.ts'
import { inTransaction } from './store/database.ts'
import { putInOutbox, withdrawFromOutbox } from './store/outbox.ts'
import { findRequest, insertRequest, listRequests, moveRequest } from './store/requests.ts'
import type { RequestRow } from './store/tables.ts'
import type { Submission } from './validation.ts'

/** Accepts a request: once this resolves, it ends COMPLETED or FAILED, whatever breaks. */
export async function submit(
  deps: Deps, accountId: string, submission: Submission,
): Promise<RequestRow> {
  const source = await checkSource(submission.source, accountId, deps)
  const row = newRow(accountId, submission, source, isoTime(deps.clock.now()))
  try {
    await inTransaction(deps.store, async (store) => {
      await insertRequest(store, row)
      await putInOutbox(store, {
        message_id: row.request_id, request_id: row.request_id, created_at: row.created_at,
      })
    })
  } catch (cause) {
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

/** A page of the account's requests, newest first; `cursor` names one after the first. */
export async function list(
  deps: Deps, accountId: string, { limit, cursor }: { limit: number; cursor: unknown },
): Promise<RequestList> {
  const after = pageStartOf(cursor)
  const rows = await listRequests(deps.store, accountId, {
    limit: limit + 1, ...(after && { after }),
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    object: 'list',
    data: await Promise.all(page.map((row) => statusOf(deps, row))),
    next_cursor: rows.length > limit && last ? cursorAfter(last) : null,
  }
}

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
 * The outputs of a request.
 * @throws ServiceError `RESULT_NOT_READY`, `REQUEST_FAILED`, or `NOT_FOUND` past their retention
 */
export function resultOf({ clock, config }: Deps, row: RequestRow): QueueResultResponse {
  if (row.status === 'FAILED') {
    const { code, message } = failureOf(row)
    throw new ServiceError('REQUEST_FAILED', { message: `The request failed: ${code}: ${message}` })
  }
  if (row.status !== 'COMPLETED') {
    throw new ServiceError('RESULT_NOT_READY', {
      message: `The request has not finished yet: it is ${row.status}.`,
    })
  }
  if (!hasResult(row, clock.now())) {
    throw new ServiceError('NOT_FOUND', { message: 'The outputs are no longer kept.' })
  }
  return presentResult(row, config)
}

/** Whether a request is completed and its outputs are still kept. @param now epoch milliseconds */
export const hasResult = ({ status, outputs_expire_at: end }: RequestRow, now: number): boolean =>
  status === 'COMPLETED' && (end === null || now < Date.parse(end))

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
