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
 * The database gets only a part of the 10 s that Prometheus waits, so that the other metrics are
 * served while it hangs.
 */
const DATABASE_MS_MAX = 2_000

interface Work {
  counts: WorkCounts | null
  left: readonly EngineSeconds[] | null
}

/**
 * Returns a function that makes all metrics, in the text format of Prometheus. While the database
 * does not answer, the metrics that are counted in it are left out. An estimate that takes too long
 * is left out alone.
 */
export function createMetricsText(deps: StateDeps): () => Promise<string> {
  const { store, clock, log, queueEstimates } = deps
  const count = askedWithin(log, () => countWork(store, isoTime(clock.now())))
  const estimate = askedWithin(log, () => queueEstimates.engineSeconds())
  return async () => {
    const [counts, left] = await Promise.all([count(DATABASE_MS_MAX), estimate(DATABASE_MS_MAX)])
    return (await deps.metrics.text()) + (await stateOf(deps, { counts, left }).text())
  }
}

/**
 * Returns a function that asks the database, and resolves with null if that fails or takes too
 * long. Only one question is open at a time.
 */
function askedWithin<T>(log: Logger, ask: () => Promise<T>) {
  let asking: Promise<T | null> | undefined
  const askOnce = async () => {
    try {
      return await ask()
    } catch (error) {
      log.warn({ err: error }, 'the database did not answer for the metrics')
      return null
    } finally {
      asking = undefined
    }
  }
  return async (msMax: number): Promise<T | null> => {
    const ended = new AbortController()
    const late = sleep(msMax, null, { signal: ended.signal }).catch(() => null)
    try {
      return await Promise.race([(asking ??= askOnce()), late])
    } finally {
      ended.abort()
    }
  }
}

/** What is null is unknown. */
function stateOf(
  { broker, engineRegistry, feed, clock }: StateDeps,
  { counts: work, left: allLeft }: Work,
): MetricSet {
  const set = new MetricSet()
  // Autoscalers take work that is not reported for none, unless this is 0.
  set.gauge('winnow_database_up').set(work && allLeft ? 1 : 0)
  set.gauge('winnow_status_watches').set(feed.watches)
  set.gauge('winnow_engines').set(engineRegistry.engines)
  set.gauge('winnow_broker_connected').set(Number(broker.isConnected()))
  if (!work) return set
  const waitingMs = work.oldestQueuedAt === null ? 0 : clock.now() - Date.parse(work.oldestQueuedAt)
  const requests = set.gauge('winnow_requests')
  requests.set({ status: 'IN_QUEUE' }, work.queued)
  requests.set({ status: 'IN_PROGRESS' }, work.running)
  const left = set.gauge('winnow_work_seconds')
  for (const { model, IN_QUEUE, IN_PROGRESS } of allLeft ?? []) {
    left.set({ model, status: 'IN_QUEUE' }, IN_QUEUE)
    left.set({ model, status: 'IN_PROGRESS' }, IN_PROGRESS)
  }
  set.gauge('winnow_queue_oldest_seconds').set(Math.max(0, waitingMs) / 1_000)
  set.gauge('winnow_outbox_jobs').set(work.outbox)
  set.gauge('winnow_webhooks_unsettled').set(work.webhooks)
  set.gauge('winnow_webhooks_due').set(work.webhooksDue)
  return set
}
