/** The metrics that admins scrape: counters, and the present state of the work. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { MetricSet } from '../../shared/telemetry/metrics.ts'
import { countWork, type WorkCounts } from '../store/work-counts.ts'
import type { Broker } from '../../shared/broker/broker.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { EngineSeconds } from '../requests/present/engine-seconds.ts'
import type { QueueEstimates } from '../requests/present/queue-estimates.ts'
import type { RequestFeed } from '../requests/follow/request-feed.ts'
import type { Store } from '../store/database.ts'
import type { EngineRegistry } from './engine-registry.ts'
import type { Metrics } from './metrics.ts'

interface StateDeps {
  store: Store
  broker: Pick<Broker, 'isConnected'>
  engineRegistry: Pick<EngineRegistry, 'engines'>
  feed: Pick<RequestFeed, 'watches'>
  queueEstimates: Pick<QueueEstimates, 'engineSeconds'>
  clock: Clock
  metrics: Metrics
  log: Logger
}

/**
 * Only a part of Prometheus's 10 s, so that the other metrics are served while the database hangs.
 */
const DATABASE_MS_MAX = 2_000

type Work = WorkCounts & { left: readonly EngineSeconds[] }

/**
 * Returns a function that makes all metrics, in the text format of Prometheus. While the database
 * does not answer, those that are counted in it are left out.
 */
export function createMetricsText(deps: StateDeps): () => Promise<string> {
  const countWithin = createWorkCounter(deps)
  return async () => {
    const work = await countWithin(DATABASE_MS_MAX)
    return (await deps.metrics.text()) + (await stateOf(deps, work).text())
  }
}

/**
 * Returns a function that counts the work, with null if the database fails or takes too long. The
 * database is asked only once at a time.
 */
function createWorkCounter({ store, clock, log, queueEstimates }: StateDeps) {
  let counting: Promise<Work | null> | undefined
  const count = async () => {
    try {
      const counts = await countWork(store, isoTime(clock.now()))
      return { ...counts, left: await queueEstimates.engineSeconds() }
    } catch (error) {
      log.warn({ err: error }, 'the database did not answer for the metrics')
      return null
    } finally {
      counting = undefined
    }
  }
  return async (msMax: number): Promise<Work | null> => {
    const ended = new AbortController()
    const late = sleep(msMax, null, { signal: ended.signal }).catch(() => null)
    try {
      return await Promise.race([(counting ??= count()), late])
    } finally {
      ended.abort()
    }
  }
}

/** @param work null if unknown */
function stateOf({ broker, engineRegistry, feed, clock }: StateDeps, work: Work | null): MetricSet {
  const set = new MetricSet()
  set.gauge('winnow_database_up').set(work ? 1 : 0)
  set.gauge('winnow_status_watches').set(feed.watches)
  set.gauge('winnow_engines').set(engineRegistry.engines)
  set.gauge('winnow_broker_connected').set(Number(broker.isConnected()))
  if (!work) return set
  const waitingMs = work.oldestQueuedAt === null ? 0 : clock.now() - Date.parse(work.oldestQueuedAt)
  const requests = set.gauge('winnow_requests')
  requests.set({ status: 'IN_QUEUE' }, work.queued)
  requests.set({ status: 'IN_PROGRESS' }, work.running)
  const left = set.gauge('winnow_work_seconds')
  for (const { model, IN_QUEUE, IN_PROGRESS } of work.left) {
    left.set({ model, status: 'IN_QUEUE' }, IN_QUEUE)
    left.set({ model, status: 'IN_PROGRESS' }, IN_PROGRESS)
  }
  set.gauge('winnow_queue_oldest_seconds').set(Math.max(0, waitingMs) / 1_000)
  set.gauge('winnow_outbox_jobs').set(work.outbox)
  set.gauge('winnow_webhooks_unsettled').set(work.webhooks)
  set.gauge('winnow_webhooks_due').set(work.webhooksDue)
  return set
}
