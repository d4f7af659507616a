/**
 * Every metric of Winnow: the single source of the names used by programs, documents and
 * dashboards. No label names a request, a key or an account, to keep the number of series small.
 */

type Labels = readonly string[]

const counter = (help: string, labelNames: Labels = []) =>
  ({ type: 'counter', help, labelNames }) as const

const gauge = (help: string, labelNames: Labels = []) =>
  ({ type: 'gauge', help, labelNames }) as const

/** @param buckets upper bounds, in the unit that the metric's name ends with */
const histogram = (help: string, buckets: readonly number[], labelNames: Labels = []) =>
  ({ type: 'histogram', help, labelNames, buckets }) as const

const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const JOB_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600]
const STEP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const LANES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

const gatewayMetrics = {
  winnow_requests_submitted_total: counter('Requests accepted.'),
  winnow_requests_finished_total: counter(
    'Requests that ended, by status and, of those that FAILED, code.',
    ['status', 'code'],
  ),
  winnow_audio_seconds_total: counter('Seconds of media of COMPLETED requests.'),
  winnow_dead_letters_total: counter('Messages that could not be handled, by stream.', ['stream']),
  winnow_webhook_tries_total: counter(
    'Webhooks posted, by the resulting state: delivered, pending (a retry), failed.',
    ['state'],
  ),
  winnow_http_request_seconds: histogram(
    'HTTP calls up to the end of the answer, which for a stream is late. 499: the client hung up.',
    CALL_SECONDS,
    ['method', 'route', 'status'],
  ),
  winnow_grpc_call_seconds: histogram(
    'Calls of SeparationService up to the end of the answer, which for a Watch is late.',
    CALL_SECONDS,
    ['method', 'status'],
  ),
  winnow_requests: gauge('Requests not finished, by status.', ['status']),
  winnow_work_seconds: gauge(
    'Estimated seconds that one engine needs for the rest of unfinished requests, by the model ' +
      'that they name (auto: none) and status. Every gateway has all of it: take max, not sum.',
    ['model', 'status'],
  ),
  winnow_queue_oldest_seconds: gauge('Age of the oldest request in the queue.'),
  winnow_outbox_jobs: gauge('Jobs still to be handed to the broker.'),
  winnow_webhooks_unsettled: gauge('Webhooks neither delivered nor given up.'),
  winnow_webhooks_due: gauge('Of these, those due now.'),
  winnow_status_watches: gauge('Open status streams and Watch calls.'),
  winnow_engines: gauge('Engines that report to the gateway.'),
  winnow_database_up: gauge(
    '1 while the database answers, else 0: then what is counted in it is left out.',
  ),
}

const commonMetrics = {
  winnow_broker_connected: gauge('1 while the broker is reached, else 0.'),
  winnow_disk_free_bytes: gauge('Free on the disk of DATA_DIR (gateway) or SCRATCH_DIR (engine).'),
  winnow_disk_size_bytes: gauge('Size of that disk.'),
}

const engineMetrics = {
  winnow_engine_info: gauge('Always 1; its labels say which engine it is.', [
    'engine_id',
    'version',
    'model',
    'device',
  ]),
  winnow_engine_state: gauge(
    '1 for the state that the engine is in: READY, BUSY, PAUSED or DRAINING.',
    ['state'],
  ),
  winnow_engine_leases: gauge('Jobs leased.'),
  winnow_engine_leases_max: gauge('Most jobs leased at once: JOBS_MAX.'),
  winnow_engine_lanes: gauge(
    'Lanes open: chunks, times their candidates, that are in the model or wait for it.',
  ),
  winnow_engine_memory_bytes: gauge(
    'Resident memory of the engine, with the processes of its models.',
  ),
  winnow_engine_busy_seconds_total: counter(
    'Time that its models spent on calls: several may compute at the same time.',
  ),
  winnow_engine_audio_seconds_total: counter(
    'Seconds of media separated, whatever the outcome of the request.',
  ),
  winnow_engine_failures_total: counter('Jobs that failed for good, by code.', ['code']),
  winnow_engine_device_memory_bytes: gauge(
    "Memory of the device that TensorFlow's allocator has given out to the engine.",
  ),
  winnow_engine_device_memory_peak_bytes: gauge('The most of it since the engine started.'),
  winnow_engine_graphs: gauge('Graphs that the engine holds, each of shapes that came often.'),
  winnow_engine_out_of_memory_total: counter('Calls for which the device had no memory left.'),
  winnow_job_queue_seconds: histogram(
    'From the submit of a request to the start of an attempt.',
    JOB_SECONDS,
  ),
  winnow_job_run_seconds: histogram(
    'Attempts, by outcome: completed, failed, released or interrupted.',
    JOB_SECONDS,
    ['outcome'],
  ),
  winnow_job_end_to_end_seconds: histogram(
    'From the submit of a request to its end, completed or failed.',
    JOB_SECONDS,
    ['outcome'],
  ),
  winnow_batch_step_seconds: histogram('Steps of a batch.', STEP_SECONDS),
  winnow_batch_lanes: histogram('Lanes of a batch that was stepped.', LANES),
  winnow_batch_fill_ratio: histogram(
    'Frames of its lanes as a share of what a batch may hold (BATCH_FRAMES_MAX, or less).',
    SHARES,
  ),
  winnow_gpu_memory_used_bytes: gauge('GPU memory in use, by anybody.', ['gpu']),
  winnow_gpu_memory_total_bytes: gauge('GPU memory.', ['gpu']),
  winnow_gpu_utilization_ratio: gauge(
    'Share of the last second or less in which the GPU computed anything.',
    ['gpu'],
  ),
  winnow_gpu_power_watts: gauge('Power that the GPU draws.', ['gpu']),
  winnow_gpu_temperature_celsius: gauge('Temperature of the GPU.', ['gpu']),
  winnow_gpu_xid_errors_total: counter(
    "Critical errors that the driver reported since the start, by NVIDIA's Xid.",
    ['gpu', 'xid'],
  ),
}

/** The metrics by the program that has them. */
export const METRICS_OF = { gateway: gatewayMetrics, both: commonMetrics, engine: engineMetrics }

export const METRICS = { ...gatewayMetrics, ...commonMetrics, ...engineMetrics }

type MetricName = keyof typeof METRICS

/** The names of metrics of one type, such as `counter`. */
export type NameOf<Type extends 'counter' | 'gauge' | 'histogram'> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[MetricName]
