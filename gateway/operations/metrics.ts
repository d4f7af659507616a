/**
 * What the gateway tells operators: what it has counted since it started, and how things stand. No
 * label names a request, a key or an account, so that there are few of each.
 */

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { isoTime, type Deps } from '../deps.ts'
import { countWork } from '../store/work-counts.ts'
import type { RequestRow } from '../store/tables.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly registry = new Registry()
  readonly #submitted = this.#counter('winnow_requests_submitted_total', 'Requests accepted.')
  readonly #finished = this.#counter('winnow_requests_finished_total',
    'Requests that ended, by status and, of those that FAILED, code.', ['status', 'code'])
  readonly #audioSeconds = this.#counter('winnow_audio_seconds_total',
    'Seconds of media of COMPLETED requests.')
  readonly #deadLetters = this.#counter('winnow_dead_letters_total',
    'Messages given up because they were delivered too often, by stream.', ['stream'])
  readonly #http = this.#histogram('winnow_http_request_seconds',
    'HTTP calls answered, to the end of the answer: a status stream lasts.',
    ['method', 'route', 'status'])
  readonly #grpc = this.#histogram('winnow_grpc_call_seconds',
    'Calls of SeparationService answered: a Watch lasts.', ['method', 'status'])

  /** Adds what Prometheus wants to know of any program: memory, time, open files … */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry })
  }

  submitted(): void {
    this.#submitted.inc()
  }

  /** @param row of a request that is COMPLETED or FAILED */
  finished({ status, error_code: code, duration }: RequestRow): void {
    this.#finished.inc({ status, code: code ?? '' })
    if (status === 'COMPLETED') this.#audioSeconds.inc(duration ?? 0)
  }

  /** @param stream in which the message was */
  deadLetter(stream: string): void {
    this.#deadLetters.inc({ stream })
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
    return await this.registry.metrics() + await (await stateOf(deps)).metrics()
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  #histogram(name: string, help: string, labelNames: string[]): Histogram {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.registry] })
  }
}

export type StateDeps = Pick<Deps, 'store' | 'broker' | 'fleet' | 'feed' | 'clock'>

/** How things stand now. */
async function stateOf({ store, broker, fleet, feed, clock }: StateDeps): Promise<Registry> {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const work = await countWork(store, isoTime(clock.now()))
  const waitingMs = work.oldestQueuedAt === null ? 0 : clock.now() - Date.parse(work.oldestQueuedAt)
  const requests = gauge('winnow_requests', 'Requests not finished, by status.', ['status'])
  requests.set({ status: 'IN_QUEUE' }, work.queued)
  requests.set({ status: 'IN_PROGRESS' }, work.running)
  gauge('winnow_queue_oldest_seconds', 'Age of the oldest request in the queue.')
    .set(Math.max(0, waitingMs) / 1_000)
  gauge('winnow_outbox_jobs', 'Jobs still to be handed to the broker.').set(work.outbox)
  gauge('winnow_webhooks_unsettled', 'Webhooks neither delivered nor given up.').set(work.webhooks)
  gauge('winnow_webhooks_due', 'Of these, such as are due now.').set(work.webhooksDue)
  gauge('winnow_status_watches', 'Open status streams and Watch calls.').set(feed.watches)
  gauge('winnow_engines', 'Engines that are there.').set(fleet.engines)
  gauge('winnow_broker_connected', '1 while the broker is reached, else 0.')
    .set(Number(broker.isConnected()))
  return registry
}
