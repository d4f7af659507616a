/** Accepts submits over HTTP and gRPC: checks them, stores them, and repeats answers by key. */

import { isoTime, type Clock } from '../../../shared/clock.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { newId } from '../../../shared/ids.ts'
import type { Priority } from '../../../shared/priority.ts'
import { kindOf, type RequestKind } from '../../../shared/request-kind.ts'
import { currentTraceParent } from '../../../shared/telemetry/tracing.ts'
import { reserveAtSubmit } from '../../accounts/credits.ts'
import { assertMonth } from '../../accounts/month.ts'
import { assertMediaRoom, type MediaLimits } from '../../accounts/media-quota.ts'
import { priorityOf } from '../../accounts/priority.ts'
import { SUBMISSION_CHECKS, type Submission } from '../../api/validation.ts'
import type { Settings } from '../../config.ts'
import { findAnswer, storeAnswer, readIdempotencyKey, type IdempotencyKey } from './idempotency.ts'
import { assertSeparator } from '../present/loaded-models.ts'
import { presentSubmitted } from '../present/presenter.ts'
import { assertRoom, type QueueLimits } from './queue-limit.ts'
import { encrypt, type Keys } from '../../secrets.ts'
import { checkSource, type CheckedSource, type SourceDeps } from './source.ts'
import { accountOf } from '../../store/accounts.ts'
import { inTransaction } from '../../store/database.ts'
import { putInOutbox } from '../../store/outbox.ts'
import { insertRequest } from '../../store/requests.ts'
import type { UploadedFile } from '../../store/files.ts'
import type { ApiKeyRow, RequestRow } from '../../store/schema/tables.ts'
import { newWebhookSecret } from '../../webhooks/signature.ts'
import type { EngineDescription } from '../../../shared/engine-control.ts'
import type { RequestFeed } from '../follow/request-feed.ts'
import type { UrlChecks } from './url-checks.ts'

export interface SubmitInput {
  /** A separation by default. */
  kind?: RequestKind | undefined
  body: unknown
  /** The compact JSON of its metadata, if it has any. */
  metadataText?: string | undefined
  /** Has to be equal in a repeated submit; the body by default. */
  fingerprinted?: unknown
  idempotencyKey?: string | string[] | undefined
  /** Aborts when the client no longer waits for the answer; nothing is stored then. */
  signal?: AbortSignal | undefined
  /**
   * The file that the body names, if its bytes came with it. It is marked as uploaded in the same
   * transaction.
   */
  received?: UploadedFile | undefined
  /** The format of the webhook; by default Winnow's own. */
  webhookFormat?: 'fal' | undefined
}

export interface SubmitAnswer {
  /** The JSON of a QueueSubmitResponse, the same byte for byte for a repeated key. */
  answer: string
  /**
   * True if an earlier submit with the same key got this answer, so that nothing was stored now.
   */
  isRepeated: boolean
}

/** Creates the error, for the log, of a submit whose client has hung up. */
export const clientGoneError = (): ServiceError =>
  new ServiceError('INVALID_REQUEST', {
    message: 'The client hung up before the answer; nothing was stored.',
  })

/** When clients should retry after the database has failed for an unforeseen reason. */
const RETRY_AFTER_SECONDS = 30

export interface SubmitDeps extends SourceDeps, Pick<UrlChecks, 'checkWebhookUrl'> {
  clock: Clock
  engineRegistry: { describe(): Promise<EngineDescription[]> }
  metrics: { submitted(): void }
  feed: Pick<RequestFeed, 'rowChanged'>
  wakePublisher: () => void
  config: SourceDeps['config'] & SubmitConfig
}

type SubmitConfig = MediaLimits &
  QueueLimits &
  Settings<'publicUrl' | 'monthSecondsMaxPerAccount' | 'priority' | 'encryptionKeys'>

/**
 * Accepts a request. Once this resolves, the request will end COMPLETED or FAILED, even after a
 * crash. A submit whose Idempotency-Key was answered before gets that answer, and nothing is
 * stored.
 * @throws ServiceError with the matching code of endpoint 5
 */
export async function submit(
  deps: SubmitDeps,
  caller: Pick<ApiKeyRow, 'account_id' | 'own_priority'>,
  {
    kind = 'separate',
    body,
    metadataText,
    fingerprinted = body,
    idempotencyKey,
    signal,
    received,
    webhookFormat,
  }: SubmitInput,
): Promise<SubmitAnswer> {
  const submission = SUBMISSION_CHECKS[kind](body, metadataText)
  const { account_id: accountId } = caller
  const user = { accountId, signal }
  const key = readIdempotencyKey(idempotencyKey, accountId, { body: fingerprinted, metadataText })
  let row: RequestRow
  let answer: string
  try {
    if (kind === 'separate') await assertSeparator(deps.engineRegistry, submission)
    if (submission.webhook) await deps.checkWebhookUrl(submission.webhook.url, user)
    const source = await checkSource({ ...submission, received }, user, deps)
    row = newRow(deps, accountId, submission, { source, webhookFormat })
    answer = JSON.stringify(presentSubmitted(row, deps.config))
    const priority = { asked: submission.priority, key: caller }
    await insert(deps, row, { source, priority, answered: key && { ...key, answer } })
  } catch (error) {
    // Answers are looked up only after a failure, because a repeated submit always fails: its key
    // is taken.
    const earlier = key && (await findAnswer(deps, key))
    if (earlier === undefined) throw error
    return { answer: earlier, isRepeated: true }
  }
  deps.metrics.submitted()
  deps.feed.rowChanged(row.request_id)
  deps.wakePublisher()
  return { answer, isRepeated: false }
}

function newRow(
  deps: SubmitDeps,
  accountId: string,
  submission: Submission,
  { source, webhookFormat }: Pick<SubmitInput, 'webhookFormat'> & { source: CheckedSource },
): RequestRow {
  const { webhook } = submission
  const requestId = newId('req')
  const now = isoTime(deps.clock.now())
  return {
    ...emptyRow(requestId, accountId, submission, source, now),
    ...(webhook && webhookColumns(requestId, webhook, deps.config.encryptionKeys)),
    ...(webhook && webhookFormat && { webhook_format: webhookFormat }),
  }
}

function emptyRow(
  requestId: string,
  accountId: string,
  { prompt, options, metadata }: Submission,
  source: CheckedSource,
  now: string,
): RequestRow {
  return {
    request_id: requestId,
    account_id: accountId,
    kind: kindOf(options),
    status: 'IN_QUEUE',
    priority: 'interactive', // its account and key decide, in the transaction
    prompt,
    options: JSON.stringify(options),
    ...source.columns,
    metadata,
    webhook_url: null,
    webhook_secret: null,
    webhook_secret_generated: 0,
    webhook_format: null,
    created_at: now,
    updated_at: now,
    started_at: null,
    finished_at: null,
    attempt_id: null,
    attempt_ids: '',
    counted_attempt_ids: '',
    attempts: 0,
    engine_id: null,
    job_sequence: null,
    requeues: 0,
    interruptions: 0,
    sample_rate: null,
    outputs: null,
    sounds: null,
    outputs_expire_at: null,
    error_code: null,
    error_message: null,
    billing_status: null,
    media_bytes: 0,
    media_removed_at: null,
  }
}

function webhookColumns(
  requestId: string,
  { url, secret }: NonNullable<Submission['webhook']>,
  encryptionKeys: Keys,
): Pick<RequestRow, 'webhook_url' | 'webhook_secret' | 'webhook_secret_generated'> {
  return {
    webhook_url: url,
    webhook_secret: encrypt(encryptionKeys, requestId, secret ?? newWebhookSecret()),
    webhook_secret_generated: secret === undefined ? 1 : 0,
  }
}

/**
 * Stores the request, its outbox entry, its reservation and, if it has a key, the answer, in one
 * transaction.
 * @throws ServiceError `IDEMPOTENCY_CONFLICT` if a concurrent submit stored the same key first
 */
async function insert(
  deps: SubmitDeps,
  row: RequestRow,
  {
    source,
    priority: { asked, key },
    answered,
  }: {
    source: CheckedSource
    priority: { asked: Priority | undefined; key: Pick<ApiKeyRow, 'own_priority'> }
    answered: (IdempotencyKey & { answer: string }) | undefined
  },
): Promise<void> {
  const { request_id, created_at } = row
  const trace_parent = currentTraceParent()
  try {
    await inTransaction(deps.store, async (store) => {
      if (answered) await storeAnswer(store, deps, { ...answered, requestId: request_id })
      await source.keep(store) // first: a file that has just arrived counts as media
      const account = await accountOf(store, row)
      const priority = priorityOf({ account, key }, asked, deps.config)
      await reserveAtSubmit(store, { row, account }, created_at)
      await assertMonth(store, { row, account }, deps.config)
      if (row.kind === 'separate') assertMediaRoom(account, deps.config)
      await insertRequest(store, { ...row, priority })
      const waiting = { message_id: request_id, request_id, created_at, trace_parent }
      await putInOutbox(store, waiting, priority)
      await assertRoom(store, account, deps.config, priority)
    })
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('QUEUE_UNAVAILABLE', { cause, retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
}
