/** Assembles an engine: its control interface, and the loop that serves jobs. */

import type { Broker, Lease } from '../shared/broker/broker.ts'
import type { Clock } from '../shared/clock.ts'
import type { DrainResult, EngineDescription } from '../shared/engine-control.ts'
import type { FailureCode } from '../shared/errors.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import type { Job } from '../shared/messages.ts'
import { AUTO } from '../shared/prompts/route-prompt.ts'
import { TAGGER } from '../shared/request-kind.ts'
import { inTraceSpan } from '../shared/telemetry/tracing.ts'
import type { PublicFetch } from '../shared/http/public-fetch.ts'
import { Budgets } from './compute/budgets.ts'
import type { Computes } from './compute/computes.ts'
import type { EngineConfig } from './config.ts'
import type { ControlledEngine } from './control-server.ts'
import { DeviceHealth } from './compute/device-health.ts'
import type { ModelDescription } from '../models/model.ts'
import { describeModel, EngineModels } from './engine-models.ts'
import { ModelFetches } from './installing/model-fetches.ts'
import { Intake } from './intake.ts'
import type { EngineMetrics } from './operations/engine-metrics.ts'
import { Schedulers } from './compute/schedulers.ts'
import { createJobMedia } from './job/job-media.ts'
import { JobStoppedError, type Outcome } from './job/outcome.ts'
import { OutputThreads } from './job/outputs/output-threads.ts'
import { ScratchRoom } from './job/scratch-room.ts'
import { separateJob } from './job/separate-job.ts'
import { modelsFor } from './job/separation/separate-mixture.ts'
import { SoundProcesses } from './media/process/sound-process.ts'
import { ResamplingThreads } from './media/resampling-threads.ts'
import { StoreOutage } from './media/store-outage.ts'

interface EngineDeps {
  config: EngineConfig
  version: string
  computes: Computes
  broker: Broker
  publicFetch: PublicFetch
  clock: Clock
  log: Logger
  metrics: EngineMetrics
  /** Environment of the processes that fetch models. */
  fetchEnvironment: NodeJS.ProcessEnv
  /** Called after each change of its models. */
  onModelsChanged(): void
  /** Called once if the engine cannot go on and the process must end. */
  onSick(reason: string): void
}

export interface Engine extends ControlledEngine {
  /** Starts to lease jobs. */
  start(): Promise<void>
  /** Leases no more jobs, and releases the open ones to the queue. */
  release(): Promise<DrainResult>
}

export function createEngine(deps: EngineDeps): Engine {
  const { config, computes, broker, clock, log, metrics } = deps
  const startedAtMs = clock.now()
  let audioSeconds = 0
  const { tagger } = computes.thread.ready
  const budgets = new Budgets(computes, config.batchFramesMax, log)
  const health = new DeviceHealth(() => deps.onSick('the device fails one job after another'))
  const scheduler = createScheduler(deps, budgets, health)
  const engineModels = createModels(deps, budgets)
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
      attempts: deliveries + job.interruptions,
      tagger: tagger && tagger.config,
      log: log.child({ requestId: job.request_id, attemptId }),
      onDeviceFailed: () => health.jobFailed(),
      onSeparated: (seconds: number) => {
        audioSeconds += seconds
      },
      onFailed: (code: FailureCode) => metrics.failed(code),
    }
    return withModels(job, engineModels, signal, (models, given) =>
      runTraced(lease, () => separateJob(job, attemptId, { ...jobDeps, models }, given)),
    )
  }
  const intake = new Intake({
    ...config,
    broker,
    log,
    modelNames: () => [...engineModels.names, ...(tagger ? [TAGGER] : [])],
    outage: () => computes.thread.restarting ?? store.current ?? scratch.current,
    separate: (lease, signal) => recordTimes(lease.job, deps, () => serve(lease, signal)),
  })
  return {
    start: () => scratch.watch().then(() => intake.start()),
    drain: (deadlineMs) => intake.drain(deadlineMs || config.drainSeconds * 1_000),
    release: () => intake.drain(0),
    setBatching: (batchFramesMax) => budgets.set(batchFramesMax),
    cancel: (requestId) => (intake.cancel(requestId) ? 'STOPPED' : 'NOT_FOUND'),
    models: engineModels,
    fetches: createFetches(deps, engineModels),
    describe: () => ({ ...describe(deps, engineModels, budgets), started_at_ms: startedAtMs }),
    stats: () => ({
      state: intake.state === 'READY' && !broker.isConnected() ? 'PAUSED' : intake.state,
      jobs: intake.jobs,
      audio_seconds_total: audioSeconds,
      batch_frames_max: firstBudget(engineModels, budgets)?.framesMax ?? 0,
      models_version: engineModels.version,
      ...computeStats(scheduler, computes),
    }),
  }
}

const createFetches = ({ config, fetchEnvironment }: EngineDeps, models: EngineModels) =>
  new ModelFetches({
    folder: config.modelFolders.installed,
    environment: fetchEnvironment,
    named: config.namedModels.map(({ name }) => name),
    models,
  })

function createScheduler(
  { computes, metrics }: EngineDeps,
  budgets: Budgets,
  health: DeviceHealth,
): Schedulers {
  const schedulers = new Schedulers(computes, budgets.byModel, {
    stepped: (batch) => metrics.stepped(batch),
    computed: () => health.computed(),
    outOfMemory: () => metrics.outOfMemory(),
  })
  computes.onEnded = (process) => schedulers.ended(process)
  return schedulers
}

function createModels(
  { config, computes, log, onModelsChanged, onSick }: EngineDeps,
  budgets: Budgets,
): EngineModels {
  const models = new EngineModels({
    ...config,
    folders: config.modelFolders,
    computes,
    log,
    onChange: () => {
      budgets.fit()
      onModelsChanged()
    },
  })
  computes.onLost = (name, error) => {
    models.lost(name, error)
    if (models.descriptions.length === 0) onSick('no model is left')
  }
  return models
}

/**
 * Serves a job with the current models, and keeps those that it uses until it ends. If the model
 * that the job names was unloaded since the lease, the job is released to the queue, where engines
 * with that model find it.
 */
function withModels(
  job: Job,
  engineModels: EngineModels,
  signal: AbortSignal,
  serve: (models: readonly ModelDescription[], signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome> {
  const { descriptions: models, names } = engineModels
  const { separator = AUTO } = job.options
  const isHere = [AUTO, TAGGER, ...names].includes(separator)
  const used = engineModels.use(modelsFor(job, models))
  const jobSignal = isHere ? signal : AbortSignal.abort(new JobStoppedError('drained'))
  return serve(models, jobSignal).finally(used)
}

/** Records how long an attempt waited and how long it took. */
async function recordTimes(
  { created_at: createdAt }: Job,
  { clock, metrics }: EngineDeps,
  separate: () => Promise<Outcome>,
): Promise<Outcome> {
  // Another machine's clock set `createdAt`, so the difference may be negative.
  const waitedMs = Math.max(0, clock.now() - Date.parse(createdAt))
  const startedAt = clock.elapsed()
  metrics.began(waitedMs / 1_000)
  const outcome = await separate()
  const runMs = clock.elapsed() - startedAt
  metrics.ended(outcome, { runSeconds: runMs / 1_000, sinceSubmit: (waitedMs + runMs) / 1_000 })
  return outcome
}

/**
 * Traces an attempt as one span. Only the first delivery's span belongs to the trace of its
 * request.
 */
function runTraced(
  { job, attemptId, deliveries, traceParent: from = null }: Lease,
  separate: () => Promise<Outcome>,
): Promise<Outcome> {
  const attributes = { 'winnow.request_id': job.request_id, 'winnow.attempt_id': attemptId }
  const options = { kind: 'consumer', from, isRepeated: deliveries > 1, attributes } as const
  return inTraceSpan('separate', options, async (span) => {
    const outcome = await separate()
    span.setAttributes({ 'winnow.outcome': outcome })
    return outcome
  })
}

function computeStats(scheduler: Schedulers, computes: Computes) {
  const { lanes, stepsTotal, laneStepsTotal, framesTotal } = scheduler.stats()
  return {
    lanes,
    steps_total: stepsTotal,
    lane_steps_total: laneStepsTotal,
    frames_total: framesTotal,
    busy_seconds_total: computes.busySeconds,
    memory_bytes: computes.memoryBytes,
  }
}

/** The budget of the preferred model; undefined once all models are lost. */
const firstBudget = ({ descriptions: [first] }: EngineModels, { byModel }: Budgets) =>
  first && byModel.get(first.name)

function describe(
  { config, version, computes }: EngineDeps,
  engineModels: EngineModels,
  budgets: Budgets,
): Omit<EngineDescription, 'started_at_ms'> {
  const { backend, device } = computes.thread.ready
  const models = engineModels.descriptions.map(describeModel)
  return {
    engine_id: config.engineId,
    version,
    model: models.find(({ answers }) => answers === 'text') ?? models[0]!,
    models,
    backend,
    device,
    jobs_max: config.jobsMax,
    batch_frames_max: firstBudget(engineModels, budgets)?.framesSet ?? 0,
  }
}
