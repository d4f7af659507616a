/** What can be done with requests: submit, read, list, cancel. Every way in calls this. */

import { isoTime } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import type { LogLine } from '../../shared/messages.ts'
import { currentTraceParent } from '../../shared/tracing.ts'
import { reserveAtSubmit } from '../accounts/credits.ts'
import type { Deps } from '../deps.ts'
import { failRequest } from './finish-request.ts'
import { withdrawJob } from './job-publisher.ts'
import { failureOf, presentResult, presentStatus } from './presenter.ts'
import { cursorAfter, pageStartOf } from '../api/pagination.ts'
import { assertRoom } from './queue-limit.ts'
import type { QueueResultResponse, QueueStatusResponse, RequestList } from '../api/schemas.ts'
import { encrypt } from '../secrets.ts'
import { assertKept, checkSource } from './source.ts'
import type { Store } from '../store/database.ts'
import { putInOutbox } from '../store/outbox.ts'
import { findRequest, insertRequest, listRequests } from '../store/requests.ts'
import { inSharedTransaction } from '../store/shared-transaction.ts'
import type { RequestRow } from '../store/tables.ts'
import type { Submission } from '../api/validation.ts'
import { newWebhookSecret } from '../webhooks/signature.ts'
import { webhookStatusOf } from '../webhooks/delivery-status.ts'

interface SubmitOptions {
  /** Runs first in the transaction that stores the request; when it throws, nothing is stored. */
  first?: (store: Store, row: RequestRow) => Promise<void>
  /** Ends the wait for the servers of its addresses; nothing is stored then. */
  signal?: AbortSignal | undefined
}

/**
 * Accepts a request: once this resolves, it ends COMPLETED or FAILED, whatever breaks.
 * @throws ServiceError with the code of endpoint 5 that fits
 */
export async function submit(
  deps: Deps,
  accountId: string,
  submission: Submission,
  { first, signal }: SubmitOptions = {},
): Promise<RequestRow> {
  const { webhook } = submission
  if (webhook) await deps.checkWebhookUrl(webhook.url, { accountId, signal })
  const source = await checkSource(submission, { accountId, signal }, deps)
  const requestId = newId('req')
  const row = {
    ...newRow(requestId, accountId, submission, source, isoTime(deps.clock.now())),
    ...(webhook && webhookColumns(requestId, webhook, deps.config.encryptionKey)),
  }
  const traceParent = currentTraceParent() // the transaction is run by whoever shares it
  try {
    await inSharedTransaction(deps.store, async (store) => {
      await first?.(store, row)
      await reserveAtSubmit(store, row, row.created_at)
      await insertRequest(store, row)
      await putInOutbox(store, {
        message_id: row.request_id,
        request_id: row.request_id,
        created_at: row.created_at,
        trace_parent: traceParent,
      })
      await assertKept(store, row)
      await assertRoom(store, accountId, deps.config)
    })
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('QUEUE_UNAVAILABLE', { cause })
  }
  deps.metrics.submitted()
  deps.feed.rowChanged(row.request_id)
  deps.wakePublisher()
  return row
}

function newRow(
  requestId: string,
  accountId: string,
  { prompt, options, metadata }: Submission,
  source: Pick<RequestRow, 'file_id' | 'audio_url' | 'file_name'>,
  now: string,
): RequestRow {
  return {
    request_id: requestId,
    account_id: accountId,
    status: 'IN_QUEUE',
    prompt,
    options: JSON.stringify(options),
    ...source,
    metadata,
    webhook_url: null,
    webhook_secret: null,
    webhook_secret_generated: 0,
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
    interruptions: 0,
    duration: null,
    sample_rate: null,
    outputs: null,
    outputs_expire_at: null,
    error_code: null,
    error_message: null,
    billing_status: null,
    media_removed_at: null,
  }
}

function webhookColumns(
  requestId: string,
  { url, secret }: NonNullable<Submission['webhook']>,
  encryptionKey: string,
): Pick<RequestRow, 'webhook_url' | 'webhook_secret' | 'webhook_secret_generated'> {
  return {
    webhook_url: url,
    webhook_secret: encrypt(encryptionKey, requestId, secret ?? newWebhookSecret()),
    webhook_secret_generated: secret === undefined ? 1 : 0,
  }
}

/** @throws ServiceError `NOT_FOUND` for a request that is not there or not the account's */
export async function findOwn(
  { store }: Deps,
  accountId: string,
  requestId: string,
): Promise<RequestRow> {
  const row = await findRequest(store, requestId)
  if (row?.account_id === accountId) return row
  throw new ServiceError('NOT_FOUND', { message: 'There is no request with this id.' })
}

/** A page of the account's requests, newest first; `cursor` names one after the first. */
export async function list(
  deps: Deps,
  accountId: string,
  { limit, cursor }: { limit: number; cursor: unknown },
): Promise<RequestList> {
  const after = pageStartOf(cursor)
  const rows = await listRequests(deps.store, accountId, {
    limit: limit + 1,
    ...(after && { after }),
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
  { store, feed, queuePositions, config }: Deps,
  row: RequestRow,
  logs?: LogLine[],
): Promise<QueueStatusResponse> {
  const { request_id: requestId, attempt_id: attemptId, status } = row
  const queuePosition = status === 'IN_QUEUE' ? await queuePositions.of(requestId) : undefined
  const progress = feed.progressOf(requestId, attemptId)
  const webhook = await webhookStatusOf(store, row)
  return presentStatus(row, { progress, queuePosition, logs, webhook }, config)
}

/**
 * The outputs of a request.
 * @throws ServiceError `RESULT_NOT_READY`, `REQUEST_FAILED`, or `NOT_FOUND` past their retention
 */
export async function resultOf(deps: Deps, row: RequestRow): Promise<QueueResultResponse> {
  if (row.status === 'FAILED') {
    const { code, message } = failureOf(row)
    throw new ServiceError('REQUEST_FAILED', { message: `The request failed: ${code}: ${message}` })
  }
  if (row.status !== 'COMPLETED') {
    throw new ServiceError('RESULT_NOT_READY', {
      message: `The request has not finished yet: it is ${row.status}.`,
    })
  }
  if (!hasResult(row, deps.clock.now())) {
    throw new ServiceError('NOT_FOUND', {
      message: `The result has expired: its outputs were kept until ${row.outputs_expire_at}.`,
    })
  }
  return presentResult(row, deps, await webhookStatusOf(deps.store, row))
}

/** Whether a request is completed and its outputs are still kept. @param now epoch milliseconds */
export const hasResult = (row: RequestRow, now: number): boolean =>
  row.status === 'COMPLETED' &&
  row.media_removed_at === null &&
  (row.outputs_expire_at === null || now < Date.parse(row.outputs_expire_at))

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
  if (sequence !== null) await withdrawJob(deps, requestId, sequence)
  if (engineId !== null) await deps.engineRegistry.cancel(engineId, requestId)
  return now
}
