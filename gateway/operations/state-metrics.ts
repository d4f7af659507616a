/** The metrics that operators scrape: counters, and the state of the work now. */

import { Gauge, Registry } from 'prom-client'
import { isoTime } from '../../shared/clock.ts'
import type { Deps } from '../deps.ts'
import { countWork } from '../store/work-counts.ts'

type StateDeps = Pick<Deps, 'store' | 'broker' | 'engineRegistry' | 'feed' | 'clock' | 'metrics'>

/** All metrics, in the text format of Prometheus. */
export const metricsText = async (deps: StateDeps): Promise<string> =>
  (await deps.metrics.registry.metrics()) + (await (await stateOf(deps)).metrics())

/** The state of the work now. */
async function stateOf({
  store,
  broker,
  engineRegistry,
  feed,
  clock,
}: StateDeps): Promise<Registry> {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const work = await countWork(store, isoTime(clock.now()))
  const waitingMs = work.oldestQueuedAt === null ? 0 : clock.now() - Date.parse(work.oldestQueuedAt)
  const requests = gauge('winnow_requests', 'Requests not finished, by status.', ['status'])
  requests.set({ status: 'IN_QUEUE' }, work.queued)
  requests.set({ status: 'IN_PROGRESS' }, work.running)
  gauge('winnow_queue_oldest_seconds', 'Age of the oldest request in the queue.').set(
    Math.max(0, waitingMs) / 1_000,
  )
  gauge('winnow_outbox_jobs', 'Jobs still to be handed to the broker.').set(work.outbox)
  gauge('winnow_webhooks_unsettled', 'Webhooks neither delivered nor given up.').set(work.webhooks)
  gauge('winnow_webhooks_due', 'Of these, such as are due now.').set(work.webhooksDue)
  gauge('winnow_status_watches', 'Open status streams and Watch calls.').set(feed.watches)
  gauge('winnow_engines', 'Engines that are there.').set(engineRegistry.engines)
  gauge('winnow_broker_connected', '1 while the broker is reached, else 0.').set(
    Number(broker.isConnected()),
  )
  return registry
}
