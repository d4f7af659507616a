/** Reads, lists, cancels and deletes requests, for HTTP and gRPC alike. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { LogLine } from '../../shared/messages.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { failRequest, type FinishDeps } from './follow/finish-request.ts'
import type { RequestFeed } from './follow/request-feed.ts'
import type { QueueEstimates } from './present/queue-estimates.ts'
import { withdrawJob, type WithdrawDeps } from './submit/job-publisher.ts'
import {
  failureOf,
  presentResult,
  presentStatus,
  type MediaPresenter,
} from './present/presenter.ts'
import type { ListFilters } from '../api/list-filters.ts'
import { pageOf, pageStartOf, startAt } from '../api/pagination.ts'
import type { QueueStatusResponse, RequestList } from '../api/schemas.ts'
import type { AnyResultResponse } from '../api/sounds-schemas.ts'
import { assertDeleted, removeMedia, type RemovalDeps } from '../files/removal.ts'
import { findRequest, listRequests, promptsOfRow } from '../store/requests.ts'
import { outputsKey } from '../media-store/keys.ts'
import { deleteRequest } from '../store/retention.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import { webhookStatusOf } from '../webhooks/delivery-status.ts'
import type { Store } from '../store/database.ts'
import type { Settings } from '../config.ts'

/**
 * Returns a request of the account.
 * @throws ServiceError `NOT_FOUND` if the account has none with this id
 */
export async function findOwn({ store }: { store: Store }, accountId: string, requestId: string) {
  const row = await findRequest(store, requestId)
  if (row?.account_id === accountId) return row
  throw new ServiceError('NOT_FOUND', { message: 'There is no request with this id.' })
}

export interface StatusDeps {
  store: Store
  feed: Pick<RequestFeed, 'progressOf' | 'livePreviewOf'>
  queueEstimates: Pick<QueueEstimates, 'of'>
  config: Settings<'publicUrl'>
}

/**
 * Returns a page of the account's requests that match the filters, newest first. For any page but
 * the first, `cursor` is the `next_cursor` of the page before.
 */
export async function list(
  deps: StatusDeps,
  accountId: string,
  { limit, cursor, ...filters }: { limit: number; cursor: unknown } & ListFilters,
): Promise<RequestList> {
  const request = { ...filters, limit: limit + 1, after: pageStartOf(cursor) }
  const rows = await listRequests(deps.store, accountId, request)
  const { page, next_cursor } = pageOf(rows, limit, (last) => startAt(last, last.request_id))
  return {
    object: 'list',
    data: await Promise.all(
      page.map(async (row) => {
        const { prompt, file_name, outputs_expire_at: deleteAfter } = row
        const prompts = promptsOfRow(row)
        return {
          ...(await statusOf(deps, row)),
          prompt,
          ...(prompts.length > 1 && { prompts }),
          file_name,
          ...(deleteAfter !== null && { retention: { delete_after: deleteAfter } }),
        }
      }),
    ),
    next_cursor,
  }
}

/** Returns the status response of a request, including `logs` if they are given. */
export async function statusOf(
  { store, feed, queueEstimates, config }: StatusDeps,
  row: RequestRow,
  logs?: LogLine[],
): Promise<QueueStatusResponse> {
  const { request_id: requestId, attempt_id: attemptId, status } = row
  const estimate = isTerminal(status) ? {} : await queueEstimates.of(row)
  const progress = feed.progressOf(requestId, attemptId)
  const livePreview = feed.livePreviewOf(requestId, attemptId)
  const webhook = await webhookStatusOf(store, row)
  return presentStatus(row, { progress, livePreview, ...estimate, logs, webhook }, config)
}

export interface ResultDeps extends MediaPresenter {
  store: Store
  clock: Clock
}

/**
 * Returns the result of a request.
 * @throws ServiceError `RESULT_NOT_READY`, `REQUEST_FAILED`, or `NOT_FOUND` once its outputs have
 *   expired
 */
export async function resultOf(deps: ResultDeps, row: RequestRow): Promise<AnyResultResponse> {
  assertResult(row, deps.clock.now())
  return presentResult(row, deps, await webhookStatusOf(deps.store, row))
}

/**
 * Checks that a request has a result.
 * @param now epoch milliseconds
 * @throws ServiceError `RESULT_NOT_READY`, `REQUEST_FAILED`, or `NOT_FOUND` once its outputs have
 *   expired
 */
export function assertResult(row: RequestRow, now: number): void {
  assertCompleted(row)
  if (hasResult(row, now)) return
  throw new ServiceError('NOT_FOUND', {
    message: `The result has expired: its outputs were kept until ${row.outputs_expire_at}.`,
  })
}

/**
 * @param param the field that named the request, if any
 * @throws ServiceError `RESULT_NOT_READY` or `REQUEST_FAILED`
 */
export function assertCompleted(row: RequestRow, param?: string): void {
  const field = param === undefined ? {} : { param }
  if (row.status === 'FAILED') {
    const { code, message } = failureOf(row)
    const why = `The request failed: ${code}: ${message}`
    throw new ServiceError('REQUEST_FAILED', { message: why, ...field })
  }
  if (row.status !== 'COMPLETED') {
    const message = `The request has not finished yet: it is ${row.status}. Follow its status.`
    throw new ServiceError('RESULT_NOT_READY', { message, ...field })
  }
}

/**
 * @param param the field that named the request, if any
 * @throws ServiceError `INVALID_PARAMETER` for a list of sounds
 */
export function assertHasOutputs(row: RequestRow, param?: string): void {
  if (row.kind === 'separate') return
  throw new ServiceError('INVALID_PARAMETER', {
    message: 'The request asked for a list of sounds, which has no outputs.',
    ...(param !== undefined && { param }),
  })
}

/**
 * Returns whether a request is completed and its outputs are still kept.
 * @param now epoch milliseconds
 */
export const hasResult = (row: RequestRow, now: number): boolean =>
  row.status === 'COMPLETED' &&
  row.media_removed_at === null &&
  (row.outputs_expire_at === null || now < Date.parse(row.outputs_expire_at))

export interface EngineCanceler {
  cancel(engineId: string, requestId: string): Promise<void>
}

export interface CancelDeps extends FinishDeps, WithdrawDeps {
  engineRegistry: EngineCanceler
}

export type RemoveDeps = CancelDeps & RemovalDeps

/**
 * Fails a request with the code `CANCELED`, and removes its job from the queue or its engine. The
 * row changes first, so that the request is canceled even if neither the broker nor the engine
 * responds.
 * @throws ServiceError `REQUEST_FINISHED`
 */
export async function cancelRequest(deps: CancelDeps, row: RequestRow): Promise<RequestRow> {
  const canceled = await cancelIfUnfinished(deps, row)
  const current = await findOwn(deps, row.account_id, row.request_id)
  if (canceled) return current
  throw alreadyFinished(current)
}

/** Creates the error for a request that cannot be canceled. */
export const alreadyFinished = ({ status }: RequestRow): ServiceError =>
  new ServiceError('REQUEST_FINISHED', {
    message: `The request has already finished: it is ${status}.`,
  })

/**
 * Cancels a request. Returns false, and runs no callback, if it has finished already.
 * @param inSameTransaction runs in the transaction that cancels it
 */
export async function cancelIfUnfinished(
  deps: CancelDeps,
  { request_id: requestId }: RequestRow,
  message = 'The request was canceled.',
  inSameTransaction?: (store: Store) => Promise<void>,
): Promise<boolean> {
  const canceled = await failRequest(deps, requestId, {
    code: 'CANCELED',
    message,
    inSameTransaction,
  })
  if (!canceled) return false
  const current = await findRequest(deps.store, requestId)
  const { job_sequence: sequence = null, engine_id: engineId = null } = current ?? {}
  if (sequence) await withdrawJob(deps, requestId, sequence)
  if (engineId !== null) await deps.engineRegistry.cancel(engineId, requestId)
  return true
}

/**
 * Deletes a request and everything that is stored of it, after canceling it if it has not finished.
 * From then on it is unknown, and its webhook is no longer sent.
 * @throws ServiceError `MEDIA_IN_USE`; `NOT_FOUND` if another call has deleted it in the meantime
 */
export async function remove(deps: RemoveDeps, row: RequestRow): Promise<void> {
  const { request_id: requestId } = row
  if (!isTerminal(row.status)) await cancelIfUnfinished(deps, row)
  const now = isoTime(deps.clock.now())
  assertDeleted(await deleteRequest(deps.store, requestId, now), 'request')
  await removeMedia(deps, [outputsKey(requestId)])
}
