/**
 * Every metric of Winnow: the single source of the names used by programs, documents and
 * dashboards. No label names a request, a key or an account, to keep the number of series small.
 */

export type MetricType = 'counter' | 'gauge' | 'histogram'

export interface MetricDefinition {
  /** Which program has the metric. */
  of: 'gateway' | 'engine' | 'both'
  type: MetricType
  help: string
  labelNames?: readonly string[]
  /** Upper bounds of a histogram, in the unit of its name. */
  buckets?: readonly number[]
}

const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const JOB_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600]
const STEP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const LANES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

const gatewayMetrics = {
  winnow_requests_submitted_total: { of: 'gateway', type: 'counter', help: 'Requests accepted.' },
  winnow_requests_finished_total: {
    of: 'gateway',
    type: 'counter',
    help: 'Requests that ended, by status and, of those that FAILED, code.',
    labelNames: ['status', 'code'],
  },
  winnow_audio_seconds_total: {
    of: 'gateway',
    type: 'counter',
    help: 'Seconds of media of COMPLETED requests.',
  },
  winnow_dead_letters_total: {
    of: 'gateway',
    type: 'counter',
    help: 'Messages that could not be handled, by stream.',
    labelNames: ['stream'],
  },
  winnow_webhook_tries_total: {
    of: 'gateway',
    type: 'counter',
    help: 'Webhooks posted, by the state that followed: delivered, pending (a retry), failed.',
    labelNames: ['state'],
  },
  winnow_http_request_seconds: {
    of: 'gateway',
    type: 'histogram',
    help: 'HTTP calls, to the end of the answer: a status stream lasts. 499: the client hung up.',
    labelNames: ['method', 'route', 'status'],
    buckets: CALL_SECONDS,
  },
  winnow_grpc_call_seconds: {
    of: 'gateway',
    type: 'histogram',
    help: 'Calls of SeparationService answered: a Watch lasts.',
    labelNames: ['method', 'status'],
    buckets: CALL_SECONDS,
  },
  winnow_requests: {
    of: 'gateway',
    type: 'gauge',
    help: 'Requests not finished, by status.',
    labelNames: ['status'],
  },
  winnow_work_seconds: {
    of: 'gateway',
    type: 'gauge',
    help:
      'Estimated seconds that one engine needs for the rest of unfinished requests, by the model ' +
      'that they name (auto: none) and status. Every gateway has all of it: take max, not sum.',
    labelNames: ['model', 'status'],
  },
  winnow_queue_oldest_seconds: {
    of: 'gateway',
    type: 'gauge',
    help: 'Age of the oldest request in the queue.',
  },
  winnow_outbox_jobs: {
    of: 'gateway',
    type: 'gauge',
    help: 'Jobs still to be handed to the broker.',
  },
  winnow_webhooks_unsettled: {
    of: 'gateway',
    type: 'gauge',
    help: 'Webhooks neither delivered nor given up.',
  },
  winnow_webhooks_due: { of: 'gateway', type: 'gauge', help: 'Of these, those due now.' },
  winnow_status_watches: {
    of: 'gateway',
    type: 'gauge',
    help: 'Open status streams and Watch calls.',
  },
  winnow_engines: { of: 'gateway', type: 'gauge', help: 'Engines that report to the gateway.' },
  winnow_database_up: {
    of: 'gateway',
    type: 'gauge',
    help: '1 while the database answers, else 0: then what is counted in it is left out.',
  },
} as const satisfies Record<string, MetricDefinition>

const commonMetrics = {
  winnow_broker_connected: {
    of: 'both',
    type: 'gauge',
    help: '1 while the broker is reached, else 0.',
  },
  winnow_disk_free_bytes: {
    of: 'both',
    type: 'gauge',
    help: 'Free on the disk of DATA_DIR (gateway) or SCRATCH_DIR (engine).',
  },
  winnow_disk_size_bytes: { of: 'both', type: 'gauge', help: 'Size of that disk.' },
} as const satisfies Record<string, MetricDefinition>

const engineMetrics = {
  winnow_engine_info: {
    of: 'engine',
    type: 'gauge',
    help: 'Always 1; its labels say which engine it is.',
    labelNames: ['engine_id', 'version', 'model', 'device'],
  },
  winnow_engine_state: {
    of: 'engine',
    type: 'gauge',
    help: '1 for the state that the engine is in: READY, BUSY, PAUSED or DRAINING.',
    labelNames: ['state'],
  },
  winnow_engine_leases: { of: 'engine', type: 'gauge', help: 'Jobs leased.' },
  winnow_engine_leases_max: {
    of: 'engine',
    type: 'gauge',
    help: 'Most jobs leased at once: JOBS_MAX.',
  },
  winnow_engine_lanes: {
    of: 'engine',
    type: 'gauge',
    help: 'Lanes open: chunks, times their candidates, that are in the model or wait for it.',
  },
  winnow_engine_memory_bytes: {
    of: 'engine',
    type: 'gauge',
    help: 'Resident memory of the engine, with the processes of its models.',
  },
  winnow_engine_busy_seconds_total: {
    of: 'engine',
    type: 'counter',
    help: 'Time that its models spent on calls: several may compute at the same time.',
  },
  winnow_engine_audio_seconds_total: {
    of: 'engine',
    type: 'counter',
    help: 'Seconds of media separated, whatever became of the request.',
  },
  winnow_engine_failures_total: {
    of: 'engine',
    type: 'counter',
    help: 'Jobs that failed for good, by code.',
    labelNames: ['code'],
  },
  winnow_engine_device_memory_bytes: {
    of: 'engine',
    type: 'gauge',
    help: "Memory of the device that TensorFlow's allocator has given out to the engine.",
  },
  winnow_engine_device_memory_peak_bytes: {
    of: 'engine',
    type: 'gauge',
    help: 'The most of it since the engine started.',
  },
  winnow_engine_graphs: {
    of: 'engine',
    type: 'gauge',
    help: 'Graphs that the engine holds, each of shapes that came often.',
  },
  winnow_engine_out_of_memory_total: {
    of: 'engine',
    type: 'counter',
    help: 'Calls for which the device had no memory left.',
  },
  winnow_job_queue_seconds: {
    of: 'engine',
    type: 'histogram',
    help: 'From the submit of a request to the start of an attempt.',
    buckets: JOB_SECONDS,
  },
  winnow_job_run_seconds: {
    of: 'engine',
    type: 'histogram',
    help: 'Tries, by outcome: completed, failed, released or interrupted.',
    labelNames: ['outcome'],
    buckets: JOB_SECONDS,
  },
  winnow_job_end_to_end_seconds: {
    of: 'engine',
    type: 'histogram',
    help: 'From the submit of a request to its end, completed or failed.',
    labelNames: ['outcome'],
    buckets: JOB_SECONDS,
  },
  winnow_batch_step_seconds: {
    of: 'engine',
    type: 'histogram',
    help: 'Steps of a batch.',
    buckets: STEP_SECONDS,
  },
  winnow_batch_lanes: {
    of: 'engine',
    type: 'histogram',
    help: 'Lanes of a batch that was stepped.',
    buckets: LANES,
  },
  winnow_batch_fill_ratio: {
    of: 'engine',
    type: 'histogram',
    help: 'Frames of its lanes as a share of what a batch may hold (BATCH_FRAMES_MAX, or less).',
    buckets: SHARES,
  },
  winnow_gpu_memory_used_bytes: {
    of: 'engine',
    type: 'gauge',
    help: 'GPU memory in use, by anybody.',
    labelNames: ['gpu'],
  },
  winnow_gpu_memory_total_bytes: {
    of: 'engine',
    type: 'gauge',
    help: 'GPU memory.',
    labelNames: ['gpu'],
  },
  winnow_gpu_utilization_ratio: {
    of: 'engine',
    type: 'gauge',
    help: 'Share of the last second or less in which the GPU computed anything.',
    labelNames: ['gpu'],
  },
  winnow_gpu_power_watts: {
    of: 'engine',
    type: 'gauge',
    help: 'Power that the GPU draws.',
    labelNames: ['gpu'],
  },
  winnow_gpu_temperature_celsius: {
    of: 'engine',
    type: 'gauge',
    help: 'Temperature of the GPU.',
    labelNames: ['gpu'],
  },
  winnow_gpu_xid_errors_total: {
    of: 'engine',
    type: 'counter',
    help: "Critical errors that the driver reported since the start, by NVIDIA's Xid.",
    labelNames: ['gpu', 'xid'],
  },
} as const satisfies Record<string, MetricDefinition>

export const METRICS = { ...gatewayMetrics, ...commonMetrics, ...engineMetrics }

export type MetricName = keyof typeof METRICS
export type NameOf<Type extends MetricType> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[MetricName]
