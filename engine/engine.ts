/** The parts of an engine put together: its control interface, and the loop that serves jobs. */

import type { Broker, Lease } from '../shared/broker/broker.ts'
import type { Clock } from '../shared/clock.ts'
import type { EngineDescription } from '../shared/engine-control.ts'
import type { FailureCode } from '../shared/errors.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import type { Job } from '../shared/messages.ts'
import { TAGGER } from '../shared/request-kind.ts'
import { inSpan } from '../shared/telemetry/tracing.ts'
import type { PublicFetch } from '../shared/http/public-fetch.ts'
import { budgetsOf } from './compute/batch-budget.ts'
import type { ComputeThread } from './compute/compute-thread.ts'
import type { EngineConfig } from './config.ts'
import type { ControlledEngine } from './control-server.ts'
import { DeviceHealth } from './compute/device-health.ts'
import { describeModel, EngineModels } from './engine-models.ts'
import { Intake } from './intake.ts'
import type { EngineMetrics } from './operations/engine-metrics.ts'
import { Scheduler } from './compute/scheduler.ts'
import { createJobMedia } from './job/job-media.ts'
import type { Outcome } from './job/outcome.ts'
import { OutputThreads } from './job/output-threads.ts'
import { ScratchRoom } from './job/scratch-room.ts'
import { separateJob } from './job/separate-job.ts'
import { SoundProcesses } from './media/process/sound-process.ts'
import { ResamplingThreads } from './media/resampling-threads.ts'
import { StoreOutage } from './media/store-outage.ts'

interface EngineDeps {
  config: EngineConfig
  /** Winnow's. */
  version: string
  compute: ComputeThread
  broker: Broker
  publicFetch: PublicFetch
  clock: Clock
  log: Logger
  metrics: EngineMetrics
  /** Called once, when the engine cannot go on: the process must end. */
  onSick(reason: string): void
}

export interface Engine extends ControlledEngine {
  /** Starts to lease jobs. */
  start(): Promise<void>
  /** Leases no more jobs, and returns the open ones to the queue. */
  giveBack(): Promise<{ finished: number; released: number }>
}

export function createEngine(deps: EngineDeps): Engine {
  const { config, compute, broker, clock, log, metrics } = deps
  const startedAtMs = clock.now()
  let audioSeconds = 0
  const { models, tagger } = compute.ready
  const budgets = budgetsOf(models, config.batchFramesMax, log)
  const first = budgets.get(models[0]!.description.name)!
  const health = new DeviceHealth(() => deps.onSick('the device fails one job after another'))
  const scheduler = createScheduler(deps, budgets, health)
  const store = new StoreOutage({ log })
  const soundProcesses = new SoundProcesses(config.scratchFolder)
  const scratch = new ScratchRoom({ ...config, log })
  const media = createJobMedia(new OutputThreads())
  const resampling = new ResamplingThreads()
  const parts = { ...deps, scheduler, resampling, store, scratch, media, soundProcesses }
  const serve = (lease: Lease, signal: AbortSignal) => {
    const { job, attemptId, deliveries } = lease
    const jobDeps = {
      ...parts,
      tries: deliveries + (job.interruptions ?? 0),
      models: models.map(({ description }) => description),
      tagger: tagger && tagger.config,
      log: log.child({ request_id: job.request_id, attempt_id: attemptId }),
      onDeviceFailed: () => health.jobFailed(),
      onSeparated: (seconds: number) => {
        audioSeconds += seconds
      },
      onFailed: (code: FailureCode) => metrics.failed(code),
    }
    return traced(lease, () => separateJob(job, attemptId, jobDeps, signal))
  }
  const engineModels = new EngineModels({
    folders: config.modelFolders,
    choices: config.models,
    descriptions: models.map(({ description }) => description),
  })
  const intake = new Intake({
    ...config,
    broker,
    log,
    modelNames: [...models.map(({ description }) => description.name), ...(tagger ? [TAGGER] : [])],
    outage: () => compute.restarting ?? store.current ?? scratch.current,
    separate: (lease, signal) => timed(lease.job, deps, () => serve(lease, signal)),
  })
  return {
    start: () => scratch.watch().then(() => intake.start()),
    drain: (deadlineMs) => intake.drain(deadlineMs || config.drainSeconds * 1_000),
    giveBack: () => intake.drain(0),
    setBatching: (batchFramesMax) => {
      for (const budget of budgets.values()) budget.framesMax = batchFramesMax
    },
    cancel: (requestId) => (intake.cancel(requestId) ? 'STOPPED' : 'NOT_FOUND'),
    listModels: () => engineModels.list(),
    loadModel: (name) => engineModels.load(name),
    unloadModel: (name) => engineModels.unload(name),
    describe: () => describe(deps, startedAtMs, first.framesSet),
    stats: () => ({
      state: intake.state === 'READY' && !broker.isConnected() ? 'PAUSED' : intake.state,
      jobs: intake.jobs,
      audio_seconds_total: audioSeconds,
      batch_frames_max: first.framesMax,
      models_version: 0,
      ...computeStats(scheduler, compute),
    }),
  }
}

/** @param budgets of the models; that of the tagger comes with them */
function createScheduler(
  { compute, metrics, log }: EngineDeps,
  budgets: ReturnType<typeof budgetsOf>,
  health: DeviceHealth,
): Scheduler {
  const { tagger } = compute.ready
  const taggerBudgets = budgetsOf(tagger ? [tagger] : [], 'auto', log) // no setting is for it
  return new Scheduler(compute, new Map([...budgets, ...taggerBudgets]), {
    stepped: (batch) => metrics.stepped(batch),
    computed: () => health.computed(),
    outOfMemory: () => metrics.outOfMemory(),
  })
}

/** Counts how long a try waited and took. */
async function timed(
  { created_at: createdAt }: Job,
  { clock, metrics }: EngineDeps,
  separate: () => Promise<Outcome>,
): Promise<Outcome> {
  const waitedMs = Math.max(0, clock.now() - Date.parse(createdAt)) // another machine's clock
  const startedAt = clock.elapsed()
  metrics.began(waitedMs / 1_000)
  const outcome = await separate()
  const runMs = clock.elapsed() - startedAt
  metrics.ended(outcome, { runSeconds: runMs / 1_000, sinceSubmit: (waitedMs + runMs) / 1_000 })
  return outcome
}

/** A try is a span: the first delivery's in the trace of its request. */
function traced(
  { job, attemptId, deliveries, traceParent: from = null }: Lease,
  separate: () => Promise<Outcome>,
): Promise<Outcome> {
  const attributes = { 'winnow.request_id': job.request_id, 'winnow.attempt_id': attemptId }
  const options = { kind: 'consumer', from, isRepeated: deliveries > 1, attributes } as const
  return inSpan('separate', options, async (span) => {
    const outcome = await separate()
    span.setAttributes({ 'winnow.outcome': outcome })
    return outcome
  })
}

function computeStats(scheduler: Scheduler, compute: ComputeThread) {
  const { lanes, stepsTotal, laneStepsTotal, framesTotal } = scheduler.stats()
  return {
    lanes,
    steps_total: stepsTotal,
    lane_steps_total: laneStepsTotal,
    frames_total: framesTotal,
    busy_seconds_total: compute.busySeconds,
    memory_bytes: process.memoryUsage.rss(),
  }
}

function describe(
  { config, version, compute }: EngineDeps,
  startedAtMs: number,
  batchFramesMax: number,
): EngineDescription {
  const { backend, device } = compute.ready
  const models = compute.ready.models.map(({ description }) => describeModel(description))
  return {
    engine_id: config.engineId,
    version,
    model: models.find(({ answers }) => answers === 'text') ?? models[0]!,
    models,
    backend,
    device,
    started_at_ms: startedAtMs,
    jobs_max: config.jobsMax,
    batch_frames_max: batchFramesMax,
  }
}
