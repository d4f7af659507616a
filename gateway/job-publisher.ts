/** Hands accepted requests to the broker: outbox rows become jobs; it drops what is repeated. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../shared/broker.ts'
import type { Clock } from '../shared/clock.ts'
import type { Logger } from '../shared/log.ts'
import type { Job, OutputPart } from '../shared/messages.ts'
import { isTerminal } from '../shared/request-status.ts'
import { isoTime } from './deps.ts'
import { Loop } from './loop.ts'
import type { MediaStore } from './media-store/media-store.ts'
import { inTransaction, type Store } from './store/database.ts'
import { oldestInOutbox, takeFromOutbox, type WaitingJob } from './store/outbox.ts'
import { findRequest, setJobSequence } from './store/requests.ts'
import { inputKey, outputKey } from './store/retention.ts'
import type { RequestRow } from './store/tables.ts'

interface PublisherDeps {
  store: Store
  broker: Pick<Broker, 'publishJob' | 'removeJob'>
  clock: Clock
  log: Logger
  mediaStore: MediaStore
}

const BATCH_MAX = 64
/** How often the outbox is looked at unasked, for rows that another process left in it. */
const EVERY_MS = 1_000
/** Requests that come so close together share a transaction: each one costs the disk a flush. */
const GATHER_MS = 10
/** A job may wait in the queue so long before its addresses expire. */
const JOB_URL_MS = 7 * 86_400_000

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

/** Empties the outbox, oldest first. */
export async function publishWaiting(deps: PublisherDeps): Promise<void> {
  for (;;) {
    const waiting = await oldestInOutbox(deps.store, isoTime(deps.clock.now()), BATCH_MAX)
    if (waiting.length === 0) return
    const unfinished = waiting.filter((row) => !isTerminal(row.status))
    const published = await Promise.all(unfinished.map(async (row) => ({
      requestId: row.request_id,
      sequence: await deps.broker.publishJob(await jobOf(row, deps), row.message_id),
    })))
    await settle(deps, waiting, published)
  }
}

type Published = { requestId: string; sequence: number }

async function settle(
  { store, broker }: PublisherDeps, waiting: readonly WaitingJob[], published: readonly Published[],
): Promise<void> {
  const canceled = await inTransaction(store, async (store) => {
    await takeFromOutbox(store, waiting.map((row) => row.message_id))
    const finished: Published[] = []
    for (const job of published) {
      await setJobSequence(store, job.requestId, job.sequence)
      const row = await findRequest(store, job.requestId)
      if (row && isTerminal(row.status)) finished.push(job)
    }
    return finished
  })
  // Canceled while they were on their way: nobody else knew where their jobs stand.
  for (const { sequence } of canceled) await broker.removeJob(sequence)
}

/** The job that asks an engine to serve a request. */
export async function jobOf(
  row: RequestRow, { clock, mediaStore }: Pick<PublisherDeps, 'clock' | 'mediaStore'>,
): Promise<Job> {
  const { request_id: requestId, file_id: fileId, file_name: fileName } = row
  const address = { asker: 'engine', expiresAt: clock.now() + JOB_URL_MS } as const
  const uploadUrl = (part: OutputPart) =>
    mediaStore.uploadUrl({ ...address, key: outputKey(requestId, part) })
  return {
    request_id: requestId,
    account_id: row.account_id,
    created_at: row.created_at,
    prompt: row.prompt,
    options: JSON.parse(row.options) as Job['options'],
    source: fileId === null
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
