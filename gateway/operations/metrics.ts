/**
 * Counts what the gateway has done since its start. No label names a request, a key or an account,
 * which keeps the number of series small.
 */

import { EVENTS, JOBS } from '../../shared/broker/streams.ts'
import { FAILURE_CODES } from '../../shared/errors.ts'
import { MetricSet } from '../../shared/telemetry/metrics.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import type { DeliveryState } from '../store/schema/webhook-tables.ts'

export class Metrics {
  readonly #set = new MetricSet()
  readonly #submitted = this.#set.counter('winnow_requests_submitted_total')
  readonly #finished = this.#set.counter('winnow_requests_finished_total', [
    { status: 'COMPLETED', code: '' },
    ...FAILURE_CODES.map((code) => ({ status: 'FAILED', code })),
  ])
  readonly #audioSeconds = this.#set.counter('winnow_audio_seconds_total')
  readonly #deadLetters = this.#set.counter(
    'winnow_dead_letters_total',
    [JOBS, EVENTS].map(({ stream }) => ({ stream })),
  )
  readonly #webhookTries = this.#set.counter(
    'winnow_webhook_tries_total',
    ['delivered', 'pending', 'failed'].map((state) => ({ state })),
  )
  readonly #http = this.#set.histogram('winnow_http_request_seconds')
  readonly #grpc = this.#set.histogram('winnow_grpc_call_seconds')

  /** Adds the state of the process, and of the disk of the data folder. */
  watchProcess(dataFolder: string): void {
    this.#set.watchProcess()
    this.#set.watchDisk(dataFolder)
  }

  text(): Promise<string> {
    return this.#set.text()
  }

  submitted(): void {
    this.#submitted.inc()
  }

  /** @param row the row of a request that is COMPLETED or FAILED */
  finished({ status, error_code: code, duration }: RequestRow): void {
    this.#finished.inc({ status, code: code ?? '' })
    if (status === 'COMPLETED') this.#audioSeconds.inc(duration ?? 0)
  }

  deadLetter(stream: string): void {
    this.#deadLetters.inc({ stream })
  }

  webhookTried(state: DeliveryState): void {
    this.#webhookTries.inc({ state })
  }

  /** @param route as it is declared, with the names of its parameters */
  httpAnswered(call: { method: string; route: string; status: number; ms: number }): void {
    const { method, route, status, ms } = call
    this.#http.observe({ method, route, status: String(status) }, ms / 1_000)
  }

  grpcAnswered(call: { method: string; status: string; ms: number }): void {
    const { method, status, ms } = call
    this.#grpc.observe({ method, status }, ms / 1_000)
  }
}
