/** The metrics that operators scrape: counters, and the state of the work now. */

import { isoTime } from '../../shared/clock.ts'
import { MetricSet } from '../../shared/telemetry/metrics.ts'
import type { Deps } from '../deps.ts'
import { countWork } from '../store/work-counts.ts'

type StateDeps = Pick<Deps, 'store' | 'broker' | 'engineRegistry' | 'feed' | 'clock' | 'metrics'>

/** All metrics, in the text format of Prometheus. */
export const metricsText = async (deps: StateDeps): Promise<string> =>
  (await deps.metrics.text()) + (await (await stateOf(deps)).text())

/** The state of the work now. */
async function stateOf({
  store,
  broker,
  engineRegistry,
  feed,
  clock,
}: StateDeps): Promise<MetricSet> {
  const set = new MetricSet()
  const work = await countWork(store, isoTime(clock.now()))
  const waitingMs = work.oldestQueuedAt === null ? 0 : clock.now() - Date.parse(work.oldestQueuedAt)
  const requests = set.gauge('winnow_requests')
  requests.set({ status: 'IN_QUEUE' }, work.queued)
  requests.set({ status: 'IN_PROGRESS' }, work.running)
  set.gauge('winnow_queue_oldest_seconds').set(Math.max(0, waitingMs) / 1_000)
  set.gauge('winnow_outbox_jobs').set(work.outbox)
  set.gauge('winnow_webhooks_unsettled').set(work.webhooks)
  set.gauge('winnow_webhooks_due').set(work.webhooksDue)
  set.gauge('winnow_status_watches').set(feed.watches)
  set.gauge('winnow_engines').set(engineRegistry.engines)
  set.gauge('winnow_broker_connected').set(Number(broker.isConnected()))
  return set
}
