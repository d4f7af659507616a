/**
 * One engine of a simulated run: the real intake, job flow and scheduler, wired as in
 * `engine/engine.ts`, with a stub model and with media that are only a length.
 */

import { BatchBudget } from '../../engine/compute/batch-budget.ts'
import { Scheduler as LaneScheduler } from '../../engine/compute/scheduler.ts'
import type { EngineConfig } from '../../engine/config.ts'
import { Intake } from '../../engine/intake.ts'
import { separateJob } from '../../engine/job/separate-job.ts'
import type { SoundProcesses } from '../../engine/media/process/sound-process.ts'
import { ResamplingThreads } from '../../engine/media/resampling-threads.ts'
import type { Broker } from '../../shared/broker/interface.ts'
import type { Clock } from '../../shared/clock.ts'
import type { PublicFetch } from '../../shared/http/public-fetch.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { PLAIN_MODEL } from '../support/models/plain-model.ts'
import { LEASE_SECONDS } from './broker.ts'
import { EngineMedia, type Exchange, type SourceFacts } from './engine-media.ts'
import { StubModel } from './stub-model.ts'
import type { Calls } from './calls.ts'
import type { Process } from './scheduler.ts'

const ANNOUNCE_MS = 5_000
const JOB_SECONDS_MAX = 600

export interface EngineParts {
  owner: Process
  calls: Calls
  broker: Broker
  /** GETs or PUTs a URL; resolves with the status. */
  exchange: Exchange
  /** Returns the facts of the source at a URL. */
  factsOf: (url: string) => SourceFacts
  storeIsAway: () => boolean
  clock: Clock
  log: Logger
}

export type SimulatedEngine = ReturnType<typeof startEngine>

export function startEngine(parts: EngineParts) {
  const { owner, calls, broker, clock, log } = parts
  const engineId = owner.name
  const model = new StubModel(owner, calls)
  const media = new EngineMedia(parts)
  const scheduler = new LaneScheduler(
    model,
    new Map([[PLAIN_MODEL.name, new BatchBudget(64, log)]]),
  )
  const config = {
    engineId,
    scratchFolder: '/scratch',
    jobsMax: 8, // enough to reserve a slot for each queue
    chunksInFlightMax: 2,
    leaseSeconds: LEASE_SECONDS,
    jobSecondsMax: JOB_SECONDS_MAX,
    mediaSecondsMax: 7_200,
    fetchSecondsMax: 60,
  } as EngineConfig
  const resampling = new ResamplingThreads()
  const intake = new Intake({
    modelNames: () => [], // jobs name no model
    ...config,
    broker,
    log,
    outage: () => null,
    separate: ({ job, attemptId, deliveries }, signal) => {
      const jobDeps = {
        broker,
        scheduler,
        models: [PLAIN_MODEL],
        tagger: null,
        config,
        clock,
        log,
        media,
        resampling,
        soundProcesses: media.soundProcesses as unknown as SoundProcesses,
        publicFetch: {} as PublicFetch,
        scratch: { isFull: async () => false },
        store: {
          reportFailure: () => undefined,
          reportSuccess: () => undefined,
          isAway: async () => parts.storeIsAway(),
        },
        attempts: deliveries + job.interruptions,
        onDeviceFailed: () => undefined,
        onSeparated: () => undefined,
        onFailed: () => undefined,
      }
      return separateJob(job, attemptId, jobDeps, signal)
    },
  })
  const announce = () => broker.announceEngine({ engine_id: engineId, control_address: owner.name })
  announce()
  const announcements = setInterval(announce, ANNOUNCE_MS)
  intake.start()
  return {
    cancel: (requestId: string) => intake.cancel(requestId),
    /** Releases its jobs and leases no more, as on SIGTERM. */
    async drain(deadlineMs: number): Promise<void> {
      await intake.drain(deadlineMs)
      clearInterval(announcements)
    },
    /** Returns counts of what it holds; all are zero when it is idle. */
    held: () => ({
      jobs: intake.jobs,
      lanes: scheduler.stats().lanes,
      'lanes of the model': model.lanes,
      folders: media.folders.size,
      'open media': media.open.size,
    }),
  }
}
