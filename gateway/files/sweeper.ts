/**
 * The sweeper deletes what has expired. One transaction changes the rows and records which media to
 * delete; then the media is deleted, then the record. Whenever the process dies, nothing expired is
 * served, and the next turn continues where this one ended.
 */

import { setImmediate as nextRound } from 'node:timers/promises'
import { isoTime } from '../../shared/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/durations.ts'
import { Loop } from '../loop.ts'
import type { Settings } from '../config.ts'
import type { PendingUploads } from './pending-uploads.ts'
import { removeMedia, type RemovalDeps } from './removal.ts'
import { renewStatistics } from '../store/driver/statistics.ts'
import { deleteExpiredIdempotencyKeys } from '../store/idempotency-keys.ts'
import { deleteExpiredPageSessions } from '../store/page-sessions.ts'
import { deleteOldWindows } from '../store/rate-windows.ts'
import { deleteExpiredShares } from '../store/shares.ts'
import {
  deleteOldFiles,
  deleteOldRequests,
  giveUpExpiredFiles,
  giveUpOutputs,
  mediaToRemove,
  orphanOf,
} from '../store/retention.ts'
import type { MediaStore } from '../media-store/media-store.ts'

interface SweeperDeps extends RemovalDeps {
  mediaStore: MediaStore
  pendingUploads: Pick<PendingUploads, 'acceptAll'>
  config: Settings<'recordDays'>
}

const EVERY_MS = MINUTE_MS
/** The search for orphans is rare, because it lists all media. */
const ORPHANS_EVERY_MS = 6 * HOUR_MS
/** Orphaned media that is older than this belongs to no upload in progress. */
const ORPHAN_AGE_MS = DAY_MS
/** Rows in one transaction, because a larger one would delay other writers. */
const PAGE_MAX = 200

/** Creates a loop that sweeps every minute, and searches for orphans every six hours. */
export function createSweeper(deps: SweeperDeps): Loop {
  let orphansDueAt = 0
  return new Loop({
    name: 'sweeper',
    everyMs: EVERY_MS,
    log: deps.log,
    turn: async () => {
      await sweep(deps)
      if (deps.clock.elapsed() < orphansDueAt) return
      await sweepOrphans(deps)
      orphansDueAt = deps.clock.elapsed() + ORPHANS_EVERY_MS
    },
  })
}

/** Removes everything that has expired. It can be repeated, and interrupted at any point. */
export async function sweep(deps: SweeperDeps): Promise<void> {
  const { store, clock, log, config } = deps
  const now = isoTime(clock.now())
  const before = isoTime(clock.now() - config.recordDays * DAY_MS)
  const page = { now, before, limit: PAGE_MAX }
  // First, so that uploads that arrived in time do not expire.
  await deps.pendingUploads.acceptAll()
  const files = await untilNone(() => giveUpExpiredFiles(store, page))
  const outputs = await untilNone(() => giveUpOutputs(store, page))
  await untilNone(() => deleteExpiredIdempotencyKeys(store, page))
  await deleteOldWindows(store, now)
  await deleteExpiredPageSessions(store, now)
  await deleteExpiredShares(store, now)
  const requests = await untilNone(() => deleteOldRequests(store, page))
  const fileRecords = await untilNone(() => deleteOldFiles(store, page))
  const media = await untilNone(async () => removeMedia(deps, await mediaToRemove(store, PAGE_MAX)))
  await renewStatistics(store)
  if (files + outputs + requests + fileRecords + media === 0) return
  log.info({ files, outputs, requests, fileRecords, media }, 'deleted what has expired')
}

/**
 * Deletes media that no row refers to, for example after the database was lost, and uploads that
 * broke off. In a bucket, a lifecycle rule ends the latter.
 */
export async function sweepOrphans({ store, mediaStore, clock, log }: SweeperDeps): Promise<void> {
  const before = clock.now() - ORPHAN_AGE_MS
  for await (const { key, writtenAt } of mediaStore.list()) {
    const orphan = writtenAt >= before ? undefined : await orphanOf(store, key)
    if (orphan === undefined) continue
    log.warn({ key: orphan }, 'media that belongs to no file or request is deleted')
    await mediaStore.remove(orphan).catch((error: unknown) => {
      log.error({ err: error, key }, 'media could not be deleted; a later turn retries')
    })
  }
  if (mediaStore.kind === 'local disk') await mediaStore.removeUnfinished()
}

/**
 * Takes page after page until one is not full, and yields to the event loop in between. Returns the
 * sum.
 */
async function untilNone(takePage: () => Promise<number>): Promise<number> {
  let sum = 0
  for (;;) {
    const count = await takePage()
    sum += count
    if (count < PAGE_MAX) return sum
    await nextRound()
  }
}
