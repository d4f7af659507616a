/** Hands accepted requests to the broker: outbox rows become jobs; it drops what is repeated. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isoTime } from '../../shared/clock.ts'
import type { Broker, JobQueue } from '../../shared/broker.ts'
import type { Job, OutputPart } from '../../shared/messages.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { inSpan } from '../../shared/tracing.ts'
import type { Deps } from '../deps.ts'
import { queuesOf } from './job-queue.ts'
import { Loop } from '../loop.ts'
import { failRequest, type FinishDeps } from './finish-request.ts'
import { inTransaction } from '../store/database.ts'
import { oldestInOutbox, putOff, takeFromOutbox, type WaitingJob } from '../store/outbox.ts'
import { findRequest, setJobSequence } from '../store/requests.ts'
import { inputKey, outputKey } from '../store/retention.ts'
import type { RequestRow } from '../store/tables.ts'

type PublisherDeps = FinishDeps &
  Pick<Deps, 'log'> & { broker: Pick<Broker, 'publishJob' | 'removeJob' | 'isConnected'> }

const BATCH_MAX = 64
/** How often the outbox is looked at unasked, for rows that another process left in it. */
const EVERY_MS = 1_000
/** Requests that come so close together share a transaction: each one costs the disk a flush. */
const GATHER_MS = 10
/** A job may wait in the queue so long before its addresses expire. */
const JOB_URL_MS = 7 * 86_400_000
/** Rest of a job that could not be handed over; doubled with each try, up to the most. */
const REST_MS = { least: 1_000, most: 600_000 }
/** With the rests between them a day; then its request fails. */
const TRIES_MAX = 150

export const createJobPublisher = (deps: PublisherDeps): Loop =>
  new Loop({
    name: 'job-publisher',
    everyMs: EVERY_MS,
    log: deps.log,
    turn: async () => {
      await sleep(GATHER_MS)
      await publishWaiting(deps)
    },
  })

/**
 * Hands over what does not rest in the outbox, oldest first. What the broker does not take rests.
 * @throws Error while the broker is away, or takes nothing
 */
export async function publishWaiting(deps: PublisherDeps): Promise<void> {
  for (;;) {
    const waiting = await oldestInOutbox(deps.store, isoTime(deps.clock.now()), BATCH_MAX)
    if (waiting.length === 0) return
    const queues = await queuesOf(
      deps.store,
      waiting.filter((row) => !isTerminal(row.status)),
    )
    const outcomes = await Promise.all(
      waiting.map((row) => publishOne(deps, row, queues.get(row.request_id))),
    )
    const failures = outcomes.filter((outcome) => 'error' in outcome)
    await settle(
      deps,
      outcomes.filter((outcome) => !('error' in outcome)),
    )
    const [first] = failures
    if (first && !deps.broker.isConnected()) throw first.error // that is no try
    for (const failure of failures) await tryLater(deps, failure)
    if (first && failures.length === waiting.length) throw first.error
  }
}

type Failed = { row: WaitingJob; error: unknown }
/** Without a sequence: its request had ended before. */
type Taken = { row: WaitingJob; sequence?: number }

/** Never throws: each row is by itself. */
async function publishOne(
  deps: PublisherDeps,
  row: WaitingJob,
  queue?: JobQueue,
): Promise<Taken | Failed> {
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
    return { row, sequence: await inSpan('publish job', options, publish) }
  } catch (error) {
    return { row, error }
  }
}

async function settle(deps: PublisherDeps, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return
  const canceled = await inTransaction(deps.store, async (store) => {
    await takeFromOutbox(
      store,
      taken.map(({ row }) => row.message_id),
    )
    const finished: { requestId: string; sequence: number }[] = []
    for (const {
      row: { request_id: requestId },
      sequence,
    } of taken) {
      if (sequence === undefined) continue
      await setJobSequence(store, requestId, sequence)
      const row = await findRequest(store, requestId)
      if (row && isTerminal(row.status)) finished.push({ requestId, sequence })
    }
    return finished
  })
  // Canceled while they were on their way: nobody else knew where their jobs stand.
  for (const { requestId, sequence } of canceled) await withdrawJob(deps, requestId, sequence)
}

interface WithdrawDeps {
  broker: Pick<Broker, 'removeJob'>
  log: Deps['log']
}

/** Takes the job of a canceled request out of the queue; one that stays does no harm. */
export async function withdrawJob(
  { broker, log }: WithdrawDeps,
  requestId: string,
  sequence: number,
): Promise<void> {
  await broker.removeJob(requestId, sequence).catch((error: unknown) => {
    log.warn({ err: error, requestId }, 'the job of a canceled request stays in the queue')
  })
}

async function tryLater(deps: PublisherDeps, { row, error }: Failed): Promise<void> {
  const { request_id: requestId } = row
  const tries = row.tries + 1
  deps.log.error({ err: error, requestId, tries }, 'a job could not be handed to the broker')
  if (tries >= TRIES_MAX) {
    await failRequest(deps, requestId, 'ENGINE_LOST', 'The request could not be queued for a day.')
    return
  }
  const restMs = Math.min(REST_MS.least * 2 ** row.tries, REST_MS.most)
  await putOff(deps.store, row, isoTime(deps.clock.now() + restMs))
}

/** The job that asks an engine to serve a request. */
export async function jobOf(
  row: RequestRow,
  { clock, mediaStore }: Pick<Deps, 'clock' | 'mediaStore'>,
): Promise<Job> {
  const { request_id: requestId, file_id: fileId, file_name: fileName } = row
  const address = { audience: 'engine', expiresAt: clock.now() + JOB_URL_MS } as const
  const uploadUrl = (part: OutputPart) =>
    mediaStore.uploadUrl({ ...address, key: outputKey(requestId, part) })
  return {
    request_id: requestId,
    account_id: row.account_id,
    created_at: row.created_at,
    prompt: row.prompt,
    options: JSON.parse(row.options) as Job['options'],
    interruptions: row.interruptions,
    source:
      fileId === null
        ? { kind: 'url', url: row.audio_url ?? '', file_name: fileName }
        : {
            kind: 'file',
            url: await mediaStore.downloadUrl({ ...address, key: inputKey(fileId), fileName }),
            file_name: fileName,
          },
    upload_urls: {
      target: await uploadUrl('target'),
      residual: await uploadUrl('residual'),
      target_video: await uploadUrl('target_video'),
      residual_video: await uploadUrl('residual_video'),
    },
  }
}
