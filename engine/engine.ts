/** The parts of an engine put together: its control interface, and the loop that serves jobs. */

import type { Broker } from '../shared/broker.ts'
import type { Clock } from '../shared/clock.ts'
import type { EngineDescription } from '../shared/engine-control.ts'
import type { Logger } from '../shared/log.ts'
import type { PublicFetch } from '../shared/http/public-fetch.ts'
import { BatchBudget } from './compute/batch-budget.ts'
import type { ComputeThread } from './compute/compute-thread.ts'
import type { EngineConfig } from './config.ts'
import type { ControlledEngine } from './control-server.ts'
import { DeviceHealth } from './compute/device-health.ts'
import { Intake } from './intake.ts'
import { Scheduler } from './compute/scheduler.ts'
import { separateJob } from './job/separate-job.ts'
import { SoundProcesses } from './media/sound-process.ts'
import { StoreOutage } from './media/store-outage.ts'

interface EngineDeps {
  config: EngineConfig
  /** Of Winnow. */
  version: string
  compute: ComputeThread
  broker: Broker
  publicFetch: PublicFetch
  clock: Clock
  log: Logger
  /** Called once, when the engine cannot go on: the process must end. */
  onSick(reason: string): void
}

export interface Engine extends ControlledEngine {
  /** Starts to lease jobs. */
  start(): void
  /** Leases no more jobs, and returns the open ones to the queue. */
  giveBack(): Promise<{ finished: number; released: number }>
}

export function createEngine(deps: EngineDeps): Engine {
  const { config, compute, broker, clock, log } = deps
  const startedAtMs = clock.now()
  let audioSeconds = 0
  const budget = new BatchBudget(config.batchFramesMax, log)
  const health = new DeviceHealth(() => deps.onSick('the device fails one job after another'))
  const scheduler = new Scheduler(compute, budget, () => health.stepped())
  const store = new StoreOutage({ log })
  const soundProcesses = new SoundProcesses()
  const parts = { ...deps, scheduler, store, soundProcesses }
  const intake = new Intake({
    ...config,
    broker,
    log,
    outage: () => compute.restarting ?? store.current,
    separate: ({ job, attemptId, deliveries }, signal) =>
      separateJob(
        job,
        attemptId,
        {
          ...parts,
          tries: deliveries + (job.interruptions ?? 0),
          model: compute.ready.description,
          log: log.child({ request_id: job.request_id, attempt_id: attemptId }),
          onDeviceFailed: () => health.jobFailed(),
          onSeparated: (seconds) => {
            audioSeconds += seconds
          },
        },
        signal,
      ),
  })
  return {
    start: () => intake.start(),
    drain: (deadlineMs) => intake.drain(deadlineMs || config.drainSeconds * 1_000),
    giveBack: () => intake.drain(0),
    setBatching: (batchFramesMax) => {
      budget.framesMax = batchFramesMax
    },
    cancel: (requestId) => (intake.cancel(requestId) ? 'STOPPED' : 'NOT_FOUND'),
    describe: () => describe(deps, startedAtMs, budget.framesSet),
    stats() {
      const steps = scheduler.stats()
      return {
        state: intake.state === 'READY' && !broker.isConnected() ? 'PAUSED' : intake.state,
        jobs: intake.jobs,
        lanes: steps.lanes,
        steps_total: steps.stepsTotal,
        lane_steps_total: steps.laneStepsTotal,
        frames_total: steps.framesTotal,
        busy_seconds_total: compute.busySeconds,
        audio_seconds_total: audioSeconds,
        memory_bytes: process.memoryUsage.rss(),
        batch_frames_max: budget.framesMax,
      }
    },
  }
}

function describe(
  { config, version, compute }: EngineDeps,
  startedAtMs: number,
  batchFramesMax: number,
): EngineDescription {
  const { description: model, backend, device } = compute.ready
  return {
    engine_id: config.engineId,
    version,
    model: {
      name: model.name,
      summary: model.summary,
      parameters: model.parameters,
      weights_sha256: model.weightsSha256,
      sample_rate: model.sampleRate ?? 0,
      channels_max: model.channelsMax,
      chunk_seconds_max: model.chunkSecondsMax,
      gives_candidates: model.givesCandidates,
      predicts_spans: model.predictsSpans,
      precision: model.precision,
    },
    backend,
    device,
    started_at_ms: startedAtMs,
    jobs_max: config.jobsMax,
    batch_frames_max: batchFramesMax,
  }
}
