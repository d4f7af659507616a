/**
 * The counters of the gateway since its start. No label names a request, a key or an account, so
 * that there are few series.
 */

import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import type { RequestRow } from '../store/tables.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export class Metrics {
  readonly registry = new Registry()
  readonly #submitted = this.#counter('winnow_requests_submitted_total', 'Requests accepted.')
  readonly #finished = this.#counter(
    'winnow_requests_finished_total',
    'Requests that ended, by status and, of those that FAILED, code.',
    ['status', 'code'],
  )
  readonly #audioSeconds = this.#counter(
    'winnow_audio_seconds_total',
    'Seconds of media of COMPLETED requests.',
  )
  readonly #deadLetters = this.#counter(
    'winnow_dead_letters_total',
    'Messages given up because they were delivered too often, by stream.',
    ['stream'],
  )
  readonly #http = this.#histogram(
    'winnow_http_request_seconds',
    'HTTP calls answered, to the end of the answer: a status stream lasts.',
    ['method', 'route', 'status'],
  )
  readonly #grpc = this.#histogram(
    'winnow_grpc_call_seconds',
    'Calls of SeparationService answered: a Watch lasts.',
    ['method', 'status'],
  )

  /** Adds the standard process metrics of Prometheus: memory, CPU time, open files … */
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

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] })
  }

  #histogram(name: string, help: string, labelNames: string[]): Histogram {
    return new Histogram({ name, help, labelNames, buckets: SECONDS, registers: [this.registry] })
  }
}
