/** Metrics of an engine: its counts since it started, and its state now. */

import type { EngineDescription, EngineStats } from '../../shared/engine-control.ts'
import { FAILURE_CODES, type FailureCode } from '../../shared/errors.ts'
import { MetricSet, type Histogram } from '../../shared/telemetry/metrics.ts'
import type { DeviceState } from '../compute/compute-messages.ts'
import type { SchedulerObserver, BatchStep } from '../compute/scheduler.ts'
import type { Outcome } from '../job/outcome.ts'
import type { GpuReading, XidError } from '../gpu/nvml.ts'

const ENDS: readonly Outcome[] = ['completed', 'failed']
const OUTCOMES: readonly Outcome[] = [...ENDS, 'released', 'interrupted']

export class EngineMetrics implements SchedulerObserver {
  readonly #set = new MetricSet()
  readonly #failures = this.#set.counter(
    'winnow_engine_failures_total',
    FAILURE_CODES.map((code) => ({ code })),
  )
  readonly #outOfMemory = this.#set.counter('winnow_engine_out_of_memory_total')
  readonly #queueSeconds = this.#set.histogram('winnow_job_queue_seconds')
  readonly #runSeconds = this.#set.histogram(
    'winnow_job_run_seconds',
    OUTCOMES.map((outcome) => ({ outcome })),
  )
  readonly #endToEndSeconds = this.#set.histogram(
    'winnow_job_end_to_end_seconds',
    ENDS.map((outcome) => ({ outcome })),
  )
  readonly #stepSeconds = this.#set.histogram('winnow_batch_step_seconds')
  readonly #lanes = this.#set.histogram('winnow_batch_lanes')
  readonly #fill = this.#set.histogram('winnow_batch_fill_ratio')
  readonly #xids = this.#set.counter('winnow_gpu_xid_errors_total')

  /** Adds the state of the process, and of the disk of the scratch folder. */
  watchProcess(scratchFolder: string): void {
    this.#set.watchProcess()
    this.#set.watchDisk(scratchFolder)
  }

  /** All of it, in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#set.text()
  }

  /**
   * Reports that an attempt begins.
   * @param queueSeconds since its request was submitted
   */
  began(queueSeconds: number): void {
    observeWait(this.#queueSeconds, {}, queueSeconds)
  }

  /**
   * Reports that an attempt has ended.
   * @param sinceSubmit seconds since its request was submitted
   */
  ended(outcome: Outcome, { runSeconds, sinceSubmit }: AttemptSeconds): void {
    this.#runSeconds.observe({ outcome }, runSeconds)
    if (!ENDS.includes(outcome)) return
    observeWait(this.#endToEndSeconds, { outcome }, sinceSubmit)
  }

  failed(code: FailureCode): void {
    this.#failures.inc({ code })
  }

  stepped({ seconds, lanes, frames, framesMax }: BatchStep): void {
    this.#stepSeconds.observe(seconds)
    this.#lanes.observe(lanes)
    this.#fill.observe(frames / framesMax)
  }

  outOfMemory(): void {
    this.#outOfMemory.inc()
  }

  xidReported({ gpu, xid }: XidError): void {
    this.#xids.inc({ gpu, xid: String(xid) })
  }
}

/** Observes a difference of two machines' clocks: it may be negative, or no number. */
function observeWait(histogram: Histogram, labels: Record<string, string>, seconds: number): void {
  if (!Number.isNaN(seconds)) histogram.observe(labels, Math.max(0, seconds))
}

interface AttemptSeconds {
  runSeconds: number
  sinceSubmit: number
}

interface EngineSnapshot {
  description: EngineDescription
  stats: EngineStats
  held: DeviceState
  brokerConnected: boolean
  gpus: readonly GpuReading[]
}

/** The state of an engine, in the text format of Prometheus. */
export function engineStateText({
  description,
  stats,
  held,
  brokerConnected,
  gpus,
}: EngineSnapshot): Promise<string> {
  const set = new MetricSet()
  const { engine_id, version, model, device } = description
  set.gauge('winnow_engine_info').set({ engine_id, version, model: model.name, device }, 1)
  const state = set.gauge('winnow_engine_state')
  for (const name of ['READY', 'BUSY', 'PAUSED', 'DRAINING']) {
    state.set({ state: name }, Number(name === stats.state))
  }
  set.gauge('winnow_broker_connected').set(Number(brokerConnected))
  set.gauge('winnow_engine_leases').set(stats.jobs)
  set.gauge('winnow_engine_leases_max').set(description.jobs_max)
  set.gauge('winnow_engine_lanes').set(stats.lanes)
  set.gauge('winnow_engine_memory_bytes').set(stats.memory_bytes)
  set.gauge('winnow_engine_device_memory_bytes').set(held.memoryBytes)
  set.gauge('winnow_engine_device_memory_peak_bytes').set(held.memoryPeakBytes)
  set.gauge('winnow_engine_graphs').set(held.graphs)
  set.counter('winnow_engine_busy_seconds_total').inc(stats.busy_seconds_total)
  set.counter('winnow_engine_audio_seconds_total').inc(stats.audio_seconds_total)
  if (gpus.length > 0) setGpus(set, gpus)
  return set.text()
}

/** A value that a GPU does not report has no series. */
function setGpus(set: MetricSet, gpus: readonly GpuReading[]): void {
  const gauges = {
    memoryUsedBytes: set.gauge('winnow_gpu_memory_used_bytes'),
    memoryTotalBytes: set.gauge('winnow_gpu_memory_total_bytes'),
    utilizationRatio: set.gauge('winnow_gpu_utilization_ratio'),
    powerWatts: set.gauge('winnow_gpu_power_watts'),
    temperatureCelsius: set.gauge('winnow_gpu_temperature_celsius'),
  }
  for (const { gpu, ...values } of gpus) {
    for (const [name, value] of Object.entries(values)) {
      gauges[name as keyof typeof gauges].set({ gpu }, value)
    }
  }
}
