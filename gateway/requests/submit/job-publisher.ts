/** Publishes accepted requests by turning outbox rows into jobs. The broker drops repeated ones. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isoTime } from '../../../shared/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../../shared/durations.ts'
import type { Broker, JobQueue } from '../../../shared/broker/broker.ts'
import { SEGMENTS_MAX } from '../../../shared/checkpoint.ts'
import { LIVE_PARTS_MAX } from '../../../shared/live-preview.ts'
import { targetNames, type Job, type OutputPart } from '../../../shared/messages.ts'
import { isTerminal } from '../../../shared/request-status.ts'
import { inTraceSpan } from '../../../shared/telemetry/tracing.ts'
import type { Settings } from '../../config.ts'
import { queuesOf } from './job-queue.ts'
import { Loop } from '../../loop.ts'
import { failRequest, type FinishDeps } from '../follow/finish-request.ts'
import { storedPart } from '../present/outputs.ts'
import { inTransaction, type Store } from '../../store/database.ts'
import {
  giveBackToOutbox,
  holdBack,
  putOff,
  removeFromOutbox,
  takeWaiting,
  type WaitingJob,
} from '../../store/outbox.ts'
import { giveBrokerPlaceBack } from '../../store/jobs-in-broker.ts'
import { findRequest, promptsOfRow, setJobSequence } from '../../store/requests.ts'
import { inputKey, livePartKey, outputKey, outputsKey, segmentKey } from '../../media-store/keys.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import type { Logger } from '../../../shared/telemetry/log.ts'
import type { MediaStore } from '../../media-store/media-store.ts'

interface PublisherDeps extends FinishDeps {
  broker: Pick<Broker, 'publishJob' | 'removeJob' | 'problem'>
  mediaStore: MediaStore
  log: Logger
  config: FinishDeps['config'] & Settings<'jobsMaxPerAccount'>
}

const BATCH_MAX = 64
/** How often the outbox is polled for rows that other processes have written. */
const EVERY_MS = 1_000
/** Requests that come this soon after others share a transaction, and so one disk flush. */
const GATHER_MS = 10
/** How long a job may wait in the queue before its addresses expire. */
const JOB_URL_MS = 7 * DAY_MS
/** The delay after a job could not be published; it doubles with each failure. */
const RETRY_DELAY_MS = { least: 1_000, most: 10 * MINUTE_MS }
/**
 * How long a gateway keeps the rows that it took, which is longer than it takes to hand over a
 * batch. After that, others may take them, in case it has died.
 */
const TAKEN_MS = 15_000
/** Longer than any delay in the outbox, including the one after an interruption. */
const REST_MS_MAX = 2 * RETRY_DELAY_MS.most
/** How long the jobs of an account are held back if it has as many with the broker as it may. */
const HOLD_MS = 2_000
/** Attempts before the request fails; with their delays, about a day. */
const TRIES_MAX = 150

export const createJobPublisher = (deps: PublisherDeps): Loop =>
  new Loop({
    name: 'job-publisher',
    everyMs: EVERY_MS,
    log: deps.log,
    turn: async () => {
      await publishWaiting(deps)
      await sleep(GATHER_MS)
    },
  })

/**
 * Publishes the due rows of the outbox, oldest first. Rows that the broker refuses are delayed.
 * @throws Error while the broker is unreachable, or refuses everything
 */
export async function publishWaiting(deps: PublisherDeps): Promise<void> {
  for (;;) {
    const waiting = await takeWaiting(deps.store, {
      now: isoTime(deps.clock.now()),
      until: isoTime(deps.clock.now() + TAKEN_MS),
      latest: isoTime(deps.clock.now() + REST_MS_MAX),
      limit: BATCH_MAX,
    })
    if (waiting.length === 0) return
    const queues = await queuesOf(
      deps.store,
      waiting.filter((row) => !isTerminal(row.status)),
      deps.config.jobsMaxPerAccount,
    )
    const isTaken = (row: WaitingJob) => isTerminal(row.status) || queues.has(row.request_id)
    const taken = waiting.filter(isTaken)
    await hold(
      deps,
      waiting.filter((row) => !isTaken(row)),
    )
    const outcomes = await Promise.all(
      taken.map((row) => publishOne(deps, row, queues.get(row.request_id))),
    )
    const failures = outcomes.filter((outcome) => 'error' in outcome)
    await settle(
      deps,
      outcomes.filter((outcome) => !('error' in outcome)),
    )
    const [first] = failures
    if (first && deps.broker.problem() !== null) {
      const ids = failures.map(({ row }) => row.message_id)
      await giveBackToOutbox(deps.store, ids) // the jobs are not at fault if the broker is away
      throw first.error
    }
    for (const failure of failures) await tryLater(deps, failure)
    if (first && failures.length === taken.length) throw first.error
    if (waiting.length < BATCH_MAX) return // later rows wake the publisher
  }
}

/**
 * Holds back the jobs of accounts that have too many, so that they do not block those of others.
 */
async function hold({ store, clock }: PublisherDeps, rows: readonly WaitingJob[]): Promise<void> {
  if (rows.length === 0) return
  await giveBackToOutbox(
    store,
    rows.map((row) => row.message_id),
  )
  const until = isoTime(clock.now() + HOLD_MS)
  for (const accountId of new Set(rows.map((row) => row.account_id))) {
    const held = rows.filter((row) => row.account_id === accountId)
    const isBatchOnly = held.every(({ priority }) => priority === 'batch')
    await holdBack(store, accountId, { until, isBatchOnly })
  }
}

type FailedJob = { row: WaitingJob; error: unknown }
/** A job that was published, or, without a sequence, not needed because its request had ended. */
type PublishedJob = { row: WaitingJob; sequence?: number }

/** Publishes one row. Never throws, because one row's failure must not stop the others. */
async function publishOne(
  deps: PublisherDeps,
  row: WaitingJob,
  queue?: JobQueue,
): Promise<PublishedJob | FailedJob> {
  if (isTerminal(row.status)) return { row }
  try {
    const job = await jobOf(row, deps)
    const options = {
      kind: 'producer',
      from: row.trace_parent,
      isRepeated: row.attempts > 0,
      attributes: { 'winnow.request_id': row.request_id },
    } as const
    const publish = () => deps.broker.publishJob(job, row.message_id, queue)
    return { row, sequence: await inTraceSpan('publish job', options, publish) }
  } catch (error) {
    return { row, error }
  }
}

async function settle(deps: PublisherDeps, taken: readonly PublishedJob[]): Promise<void> {
  if (taken.length === 0) return
  const canceled = await inTransaction(deps.store, async (store) => {
    const finished: { requestId: string; sequence: number }[] = []
    for (const { row, sequence } of taken) {
      if (sequence === undefined) continue
      const { request_id: requestId } = row
      const storedStatus = await setJobSequence(store, row, sequence)
      const status = storedStatus ?? (await findRequest(store, requestId))?.status
      if (!status || isTerminal(status)) finished.push({ requestId, sequence })
    }
    const ids = taken.map(({ row }) => row.message_id)
    await removeFromOutbox(store, ids) // last, in the locking order of what ends requests
    return finished
  })
  // These were canceled or deleted while their jobs were being published, before the sequence was
  // stored.
  for (const { requestId, sequence } of canceled) await withdrawJob(deps, requestId, sequence)
}

export interface WithdrawDeps {
  broker: Pick<Broker, 'removeJob'>
  log: Logger
}

/** Removes the job of a canceled request from the queue. If that fails, the job does no harm. */
export async function withdrawJob(
  { broker, log }: WithdrawDeps,
  requestId: string,
  sequence: number,
): Promise<void> {
  await broker.removeJob(requestId, sequence).catch((error: unknown) => {
    log.warn({ err: error, requestId }, 'the job of a canceled request stays in the queue')
  })
}

async function tryLater(deps: PublisherDeps, { row, error }: FailedJob): Promise<void> {
  const { request_id: requestId } = row
  const tries = row.tries + 1
  deps.log.error({ err: error, requestId, tries }, 'a job could not be handed to the broker')
  if (tries >= TRIES_MAX) {
    const message = 'The request could not be queued for a day.'
    await failRequest(deps, requestId, { code: 'ENGINE_LOST', message })
    return
  }
  const retryDelayMs = Math.min(RETRY_DELAY_MS.least * 2 ** row.tries, RETRY_DELAY_MS.most)
  await giveBrokerPlaceBack(deps.store, requestId) // meanwhile others of its account may have it
  await putOff(deps.store, row, isoTime(deps.clock.now() + retryDelayMs))
}

/** Returns the outputs that an engine may store for a request. */
function partsOf(row: RequestRow): OutputPart[] {
  if (row.kind === 'sounds') return []
  const names = [...targetNames(promptsOfRow(row).length), 'residual' as const]
  const { preview } = optionsOf(row)
  const drawn = preview ? (['peaks', 'preview'] as const) : (['peaks'] as const)
  return [...names.flatMap((name) => [name, `${name}_video` as const]), ...drawn]
}

const optionsOf = (row: RequestRow) => JSON.parse(row.options) as Job['options']

/** Returns the key of a request's stored media, or null if it is fetched from its `audio_url`. */
async function sourceKey(row: RequestRow, store: Store): Promise<string | null> {
  const { file_id: fileId, source_request_id: sourceId, source_output: output } = row
  if (sourceId === null || output === null) return fileId === null ? null : inputKey(fileId)
  const source = await findRequest(store, sourceId)
  return outputKey(sourceId, output, source && storedPart(source, output)?.place)
}

/** Returns functions that sign addresses for an engine, valid for as long as a job may wait. */
function signerOf({ clock, mediaStore }: PublisherDeps) {
  const address = { audience: 'engine', expiresAt: clock.now() + JOB_URL_MS } as const
  return {
    put: (key: string) => mediaStore.uploadUrl({ ...address, key }),
    get: (key: string, fileName: string) => mediaStore.downloadUrl({ ...address, key, fileName }),
  }
}

type Signer = ReturnType<typeof signerOf>

/**
 * Returns the addresses of a request's checkpoint, or undefined if it has none because it is short
 * or makes no outputs.
 */
async function checkpointUrlsOf(
  { request_id: requestId, kind, is_short: isShort }: WaitingJob,
  sign: Signer,
): Promise<Job['checkpoint_urls']> {
  if (kind === 'sounds' || isShort) return undefined
  const segments = Array.from({ length: SEGMENTS_MAX }, async (_, segment) => {
    const key = segmentKey(requestId, segment)
    return { put: await sign.put(key), get: await sign.get(key, 'checkpoint') }
  })
  return Promise.all(segments)
}

/**
 * Returns the addresses for the parts of a request's live preview, or undefined if nobody asked for
 * a preview, or if its media is short.
 */
async function livePreviewUrlsOf(row: WaitingJob, sign: Signer): Promise<Job['live_preview_urls']> {
  if (row.is_short || !partsOf(row).includes('preview')) return undefined
  const keys = Array.from({ length: LIVE_PARTS_MAX }, (_, i) => livePartKey(row.request_id, i))
  return Promise.all(keys.map(sign.put))
}

async function jobOf(row: WaitingJob, deps: PublisherDeps): Promise<Job> {
  const { store, mediaStore } = deps
  const { request_id: requestId, file_name: fileName } = row
  const storedKey = await sourceKey(row, store)
  const sharedFolder = mediaStore.kind === 'local disk' ? mediaStore.engineFolder : undefined
  const sign = signerOf(deps)
  const upload = async (part: OutputPart) => [part, await sign.put(outputKey(requestId, part))]
  const checkpointUrls = await checkpointUrlsOf(row, sign)
  const livePreviewUrls = await livePreviewUrlsOf(row, sign)
  const { preview: _asked, ...options } = optionsOf(row) // engines of 0.4.0 would refuse it
  return {
    request_id: requestId,
    account_id: row.account_id,
    created_at: row.created_at,
    prompt: row.prompt,
    options,
    priority: row.priority,
    interruptions: row.interruptions,
    start_may_measure: true,
    source:
      storedKey === null
        ? { kind: 'url', url: row.audio_url ?? '', file_name: fileName }
        : { kind: 'file', url: await sign.get(storedKey, fileName), file_name: fileName },
    upload_urls: Object.fromEntries(
      await Promise.all(partsOf(row).map(upload)),
    ) as Job['upload_urls'],
    ...(checkpointUrls && { checkpoint_urls: checkpointUrls }),
    ...(livePreviewUrls && { live_preview_urls: livePreviewUrls }),
    ...(sharedFolder !== undefined && {
      shared_folder: sharedFolder,
      hand_over_url: await sign.put(outputsKey(requestId)),
    }),
  }
}
