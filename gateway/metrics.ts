/**
 * What the gateway tells operators: what it has counted since it started, and how things stand. No
 * label names a request, a key or an account, so that there are few of each.
 */

import { Counter, gaugeText, Histogram, type Sample } from '../shared/metrics.ts'
import { isoTime, type Deps } from './deps.ts'
import { countWork } from './store/work-counts.ts'
import type { RequestRow } from './store/tables.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly #submitted = new Counter('winnow_requests_submitted_total', 'Requests accepted.')
  readonly #finished = new Counter('winnow_requests_finished_total',
    'Requests that ended, by status and, of those that FAILED, code.')
  readonly #audioSeconds = new Counter('winnow_audio_seconds_total',
    'Seconds of media of COMPLETED requests.')
  readonly #http = new Histogram('winnow_http_request_seconds',
    'HTTP calls answered, to the end of the answer: a status stream lasts.', SECONDS)
  readonly #grpc = new Histogram('winnow_grpc_call_seconds',
    'Calls of SeparationService answered: a Watch lasts.', SECONDS)

  submitted(): void {
    this.#submitted.add()
  }

  /** @param row of a request that is COMPLETED or FAILED */
  finished({ status, error_code: code, duration }: RequestRow): void {
    this.#finished.add({ status, code: code ?? '' })
    if (status === 'COMPLETED') this.#audioSeconds.add({}, duration ?? 0)
  }

  /** @param route as it is declared, with the names of its parameters */
  httpAnswered(call: { method: string; route: string; status: number; ms: number }): void {
    const { method, route, status, ms } = call
    this.#http.observe({ method, route, status: String(status) }, ms / 1_000)
  }

  /** @param status its name */
  grpcAnswered(call: { method: string; status: string; ms: number }): void {
    const { method, status, ms } = call
    this.#grpc.observe({ method, status }, ms / 1_000)
  }

  /** All of it, in the text format of Prometheus. */
  async text(deps: StateDeps): Promise<string> {
    const counted = [this.#submitted, this.#finished, this.#audioSeconds, this.#http, this.#grpc]
    return counted.map((one) => one.text()).join('') + await stateText(deps) + processText()
  }
}

export type StateDeps = Pick<Deps, 'store' | 'broker' | 'fleet' | 'feed' | 'clock'>

async function stateText({ store, broker, fleet, feed, clock }: StateDeps): Promise<string> {
  const work = await countWork(store, isoTime(clock.now()))
  const waitingSeconds =
    work.oldestQueuedAt === null ? 0 : (clock.now() - Date.parse(work.oldestQueuedAt)) / 1_000
  const one = (value: number): Sample[] => [[{}, value]]
  const requests: Sample[] = [
    [{ status: 'IN_QUEUE' }, work.queued], [{ status: 'IN_PROGRESS' }, work.running],
  ]
  return [
    gaugeText('winnow_requests', 'Requests that are not finished, by status.', requests),
    gaugeText('winnow_queue_oldest_seconds', 'Age of the oldest request in the queue.',
      one(Math.max(0, waitingSeconds))),
    gaugeText('winnow_outbox_jobs', 'Jobs still to be handed to the broker.', one(work.outbox)),
    gaugeText('winnow_webhooks_unsettled', 'Webhooks neither delivered nor given up.',
      one(work.webhooks)),
    gaugeText('winnow_webhooks_due', 'Of these, such as are due now.', one(work.webhooksDue)),
    gaugeText('winnow_status_watches', 'Open status streams and Watch calls.', one(feed.watches)),
    gaugeText('winnow_engines', 'Engines that are there.', one(fleet.engines)),
    gaugeText('winnow_broker_connected', '1 while the broker is reached, else 0.',
      one(Number(broker.isConnected()))),
  ].join('')
}

/** Names as Prometheus gives them to every program. */
function processText(): string {
  const { user, system } = process.cpuUsage()
  const cpuSeconds = new Counter('process_cpu_seconds_total', 'CPU time used.')
  cpuSeconds.add({}, (user + system) / 1e6)
  const startedAt = Date.now() / 1_000 - process.uptime()
  return cpuSeconds.text() +
    gaugeText('process_resident_memory_bytes', 'Memory used.', [[{}, process.memoryUsage.rss()]]) +
    gaugeText('process_start_time_seconds', 'When it started, since 1970.', [[{}, startedAt]])
}
