/** Serves one job, from its source to its outputs. */

import { stat } from 'node:fs/promises'
import type { Broker } from '../../shared/broker/broker.ts'
import type { Clock } from '../../shared/clock.ts'
import type { FailureCode } from '../../shared/errors.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { assertNotTooLong, MEASURED_SECONDS_MAX } from '../../shared/media-limits.ts'
import { targetNames, type Event, type Job } from '../../shared/messages.ts'
import type { PublicFetch } from '../../shared/http/public-fetch.ts'
import { kindOf } from '../../shared/request-kind.ts'
import { promptsOf } from '../../shared/separation-options.ts'
import { inTraceSpan } from '../../shared/telemetry/tracing.ts'
import { CHANNELS_MAX, type ModelDescription } from '../../models/model.ts'
import type { TaggerConfig } from '../../models/tagger/config.ts'
import type { EngineConfig } from '../config.ts'
import { DeviceError } from '../compute/compute-errors.ts'
import { allSettledOrThrow } from './all-settled-or-throw.ts'
import { createCheckpoint } from './checkpoint/checkpoint.ts'
import {
  describeGain,
  describeMixture,
  describeReading,
  describeStored,
} from './reports/job-log.ts'
import type { JobMedia, JobOutputs } from './job-media.ts'
import { fetchMedia } from './fetch-media.ts'
import { JobProgress, type ProgressReport } from './reports/job-progress.ts'
import { withDeviceMeter } from './reports/device-meter.ts'
import { createReporter, type JobReporter } from './reports/job-reporter.ts'
import { TransientError, LONG_RETRY_POLICY, withRetries } from '../media/retry.ts'
import { UploadRefusedError } from '../media/write/upload.ts'
import { failureOf, JobStoppedError, releaseCauseOf, type Outcome } from './outcome.ts'
import { predictOutputBytes } from './outputs/output-bytes.ts'
import { createStore } from './outputs/output-store.ts'
import type { LivePreview } from './outputs/live-preview.ts'
import { openOutputs } from './outputs/open-outputs.ts'
import type { Scheduler } from '../compute/scheduler.ts'
import { heardSounds } from './findings/heard-sounds.ts'
import { listSounds } from './findings/list-sounds.ts'
import type { ScratchRoom } from './scratch-room.ts'
import { separateMixture } from './separation/separate-mixture.ts'
import { StartReport, type Measurements } from './reports/start-report.ts'
import { lfeChannelOf } from '../media/channel-layout.ts'
import type { Mixture, MixtureLimits } from '../media/read/mixture.ts'
import type { SoundProcesses, SoundReader } from '../media/process/sound-process.ts'
import type { ResamplingThreads } from '../media/resampling-threads.ts'
import type { StoreOutage } from '../media/store-outage.ts'

export interface JobDeps {
  broker: Pick<Broker, 'publishEvent' | 'publishProgress'>
  scheduler: Pick<Scheduler, 'separate'>
  resampling: ResamplingThreads
  /** The engine's models, the preferred one first. */
  models: readonly ModelDescription[]
  /** Null if nothing is tagged. */
  tagger: TaggerConfig | null
  config: EngineConfig
  clock: Clock
  log: Logger
  media: JobMedia
  /** Processes that read clients' files. */
  soundProcesses: SoundProcesses
  /** Fetches addresses given by clients; refuses private ones. */
  publicFetch: PublicFetch
  store: Pick<StoreOutage, 'reportFailure' | 'reportSuccess' | 'isAway'>
  scratch: Pick<ScratchRoom, 'isFull'>
  /** How many attempts the request has had, including this one but not those that a drain ended. */
  attempts: number
  /** Called when the job fails because of the device. */
  onDeviceFailed(): void
  /** Called with the seconds of media that were separated. */
  onSeparated(seconds: number): void
  /** Called when the job has failed permanently and that is stored. */
  onFailed(code: FailureCode): void
}

/**
 * Serves one job and reports its outcome; never throws. The broker has stored the outcome as an
 * event, unless it is `interrupted` or the request had already ended.
 */
export async function separateJob(
  job: Job,
  attemptId: string,
  unmetered: JobDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const deps = withDeviceMeter(unmetered)
  const reporter = createReporter(job, attemptId, deps)
  // No other event may precede it.
  const start = new StartReport(reporter.event('started'), (event) =>
    publishUntilStored(event, deps, signal),
  )
  let folder: string | null = null
  try {
    const into = (folder = await deps.media.makeFolder(deps.config.scratchFolder))
    const fetch = () => fetchMedia(job, into, signal, deps)
    const { path: sourcePath, ...named } = await inTraceSpan('fetch', {}, fetch)
    const work = { folder, sourcePath, reporter, start, signal, attemptId }
    const completed = await deps.soundProcesses.use(signal, (reader) =>
      produceResult(job, { ...work, reader }, deps),
    )
    const event = { ...reporter.event('completed'), ...completed, ...named }
    await publishUntilStored(event, deps, signal)
    return 'completed'
  } catch (error) {
    // A disk that is full without the job's files is not the job's fault.
    if (folder) await deps.media.removeFolder(folder)
    const unreported = await reasonOf(start.stored())
    if (unreported === undefined) {
      return await reportFailure(signal.aborted ? signal.reason : error, reporter, deps, signal)
    }
    // The gateway ignores a release by an attempt whose start it never learned of.
    deps.log.warn({ err: unreported }, 'the start of the job could not be reported')
    return 'interrupted'
  } finally {
    if (folder) await deps.media.removeFolder(folder)
  }
}

/** Returns why `promise` failed; undefined if it did not. */
const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

interface JobContext {
  folder: string
  sourcePath: string
  reader: SoundReader
  reporter: JobReporter
  start: StartReport
  signal: AbortSignal
  attemptId: string
}

type CompletedFields = Pick<
  Extract<Event, { type: 'completed' }>,
  'duration' | 'sample_rate' | 'outputs' | 'sounds'
>

/**
 * Reports measurements while the work is done, and before the outcome. If both fail, the error of
 * the work is the outcome.
 */
async function produceResult(
  job: Job,
  context: JobContext,
  deps: JobDeps,
): Promise<CompletedFields> {
  const { sourcePath, reader } = context
  const seconds = await measureMedia(job, context, deps)
  const { mediaSecondsMax } = deps.config
  const { audio_track: track } = job.options
  const limits = { mediaSecondsMax, channelsMax: CHANNELS_MAX, sampleRate: null, track }
  const mixture = await reader.open(sourcePath, limits)
  try {
    const opened = { ...context, mixture, limits, seconds: seconds ?? 0 }
    const reported = seconds === null ? context.start.stored() : reportMeasured(job, opened, deps)
    const serve = kindOf(job.options) === 'sounds' ? listSource : separateSource
    const served = serve(job, opened, deps)
    await allSettledOrThrow<unknown>([served, reported])
    return await served
  } finally {
    await mixture.close()
  }
}

interface OpenedContext extends JobContext {
  mixture: Mixture
  limits: MixtureLimits
  /** Length according to the packets; 0 if unknown. */
  seconds: number
}

async function listSource(
  job: Job,
  { reporter, signal, attemptId, seconds, mixture }: OpenedContext,
  deps: JobDeps,
): Promise<CompletedFields> {
  assertNotTooLong(seconds, deps.config.mediaSecondsMax, mixture)
  for (const line of describeMixture(mixture)) reporter.log(line)
  const progress = new JobProgress(false, (now) => report(job, attemptId, now, deps))
  const options = { signal, secondsExpected: seconds, onProgress: progress.sound }
  const { seconds: duration, sounds } = await listSounds(job, mixture, { ...deps, ...options })
  for (const line of describeReading(mixture)) reporter.log(line)
  return { duration, sample_rate: mixture.sampleRate, sounds }
}

async function separateSource(
  job: Job,
  context: OpenedContext,
  deps: JobDeps,
): Promise<CompletedFields> {
  const { sourcePath, reader, reporter, signal, attemptId, seconds, mixture, limits } = context
  let outputs: JobOutputs | null = null
  let live: LivePreview | undefined
  const checkpoint = createCheckpoint({ ...deps, ...context, job }, deps.config)
  try {
    assertNotTooLong(seconds, deps.config.mediaSecondsMax, mixture)
    for (const line of describeMixture(mixture)) reporter.log(line)
    const mayLose = mixture.hasVideo && lfeChannelOf(mixture.channelMask) >= 0
    const lfeHasFullRange = mayLose && (await reader.lfeHasFullRange(sourcePath, limits))
    const names = targetNames(promptsOf(job.prompt, job.options).length)
    const progress = new JobProgress(mixture.hasVideo, (now) => report(job, attemptId, now, deps))
    const { video: onVideoProgress, live: onLive } = progress
    const opening = { ...context, names, lfeHasFullRange, onVideoProgress, onLive }
    ;({ outputs, live } = await openOutputs(job, opening, deps))
    const { samples, findings, tagged } = await separateMixture(job, mixture, {
      ...deps,
      signal,
      secondsExpected: seconds,
      measureLevels: () =>
        inTraceSpan('measure levels', {}, () => reader.levels(sourcePath, limits)),
      log: reporter.log,
      write: (separated) => outputs!.write(separated),
      onProgress: progress.sound,
      checkpoint,
    })
    progress.soundEnded()
    for (const line of describeReading(mixture)) reporter.log(line)
    const stored = await outputs.finish(createStore(job, attemptId, signal, deps))
    for (const line of describeGain(stored.gain_db)) reporter.log(line)
    reporter.log(describeStored(stored, outputs.sound, mixture))
    await checkpoint?.close({ flush: false })
    const duration = samples / mixture.sampleRate
    deps.onSeparated(duration)
    const described = Object.fromEntries(
      names.map((name, i) => [name, { ...stored[name]!, ...findings[i] }]),
    )
    return {
      duration,
      sample_rate: outputs.sound.sampleRate,
      outputs: { ...stored, ...described },
      ...(tagged && { sounds: heardSounds(tagged) }),
    }
  } catch (error) {
    await outputs?.abort()
    await checkpoint?.close({ flush: isReleased(signal.aborted ? signal.reason : error, deps) })
    throw error
  } finally {
    await live?.close()
  }
}

/** Whether another attempt will follow. */
const isReleased = (error: unknown, { attempts }: JobDeps): boolean =>
  !(error instanceof JobStoppedError && error.because === 'canceled') &&
  failureOf(error, attempts) === null

/**
 * Returns the length of the media in seconds, if its packets state it. If the media is too long,
 * reports that, so that the next submit of the same file is refused.
 * @throws ServiceError MEDIA_TOO_LONG
 */
async function measureMedia(
  { options }: Job,
  context: JobContext,
  deps: JobDeps,
): Promise<number | null> {
  const { sourcePath, reader } = context
  const secondsMax = deps.config.mediaSecondsMax
  const part = { secondsMax, track: options.audio_track }
  const seconds = await inTraceSpan('measure', {}, () => reader.measure(sourcePath, part))
  if (seconds !== null && seconds > secondsMax) {
    await publishMeasured({ duration: Math.min(seconds, MEASURED_SECONDS_MAX) }, context, deps)
    assertNotTooLong(seconds, secondsMax)
  }
  return seconds
}

/** Saves work if the account cannot pay for the media, or its outputs do not fit. */
async function reportMeasured(
  { prompt, options, upload_urls: urls }: Job,
  context: OpenedContext,
  deps: JobDeps,
): Promise<void> {
  const { sourcePath, mixture, seconds } = context
  if (kindOf(options) === 'sounds') return publishMeasured({ duration: seconds }, context, deps)
  const { sampleRate, channels, hasVideo, cover } = mixture
  const bytes = predictOutputBytes({
    count: promptsOf(prompt, options).length + 1,
    seconds,
    format: options.output_format,
    sampleRate,
    channels,
    videoBytes: hasVideo ? (await stat(sourcePath)).size : 0,
    coverBytes: cover?.bytes.length ?? 0,
    hasPreview: urls.preview !== undefined,
  })
  await publishMeasured({ duration: seconds, output_bytes: bytes }, context, deps)
}

async function publishMeasured(
  measurements: Measurements,
  { start, reporter, signal }: JobContext,
  deps: JobDeps,
): Promise<void> {
  if (start.isWaiting) return start.stored(measurements)
  await start.stored()
  await publishUntilStored({ ...reporter.event('measured'), ...measurements }, deps, signal)
}

function report(
  { request_id }: Job,
  attemptId: string,
  progress: ProgressReport,
  { broker, clock }: JobDeps,
): void {
  const at = new Date(clock.now()).toISOString()
  broker.publishProgress({ request_id, attempt_id: attemptId, at, ...progress })
}

/** Turns an error into an event and an outcome. */
async function reportFailure(
  error: unknown,
  reporter: JobReporter,
  deps: JobDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    if (error instanceof UploadRefusedError) {
      deps.log.info('the request has already ended: dropped this attempt')
      return 'completed'
    }
    if (error instanceof JobStoppedError && error.because === 'canceled') {
      const canceled = { code: 'CANCELED' as const, message: 'The request was canceled.' }
      await deps.broker.publishEvent({ ...reporter.event('failed'), error: canceled })
      deps.onFailed(canceled.code)
      return 'failed'
    }
    if (error instanceof DeviceError) deps.onDeviceFailed()
    const failure = failureOf(error, deps.attempts)
    if (failure) {
      deps.log.warn({ err: error }, 'the job failed')
      await publishUntilStored({ ...reporter.event('failed'), error: failure }, deps, signal)
      deps.onFailed(failure.code)
      return 'failed'
    }
    deps.log.warn({ err: error }, 'the job was interrupted')
    const cause = await releaseCauseOf(error, deps)
    await deps.broker.publishEvent({ ...reporter.event('released'), cause })
    return 'released'
  } catch (cause) {
    deps.log.error({ err: cause }, 'the end of the job could not be reported')
  }
  return 'interrupted'
}

/**
 * Publishes an event, retrying for minutes. Without the outcome all work would be repeated, and
 * without the start a broker that cannot store anything for a while would use up the job's
 * deliveries. If an event was stored but its ack was lost, the repeat is dropped because of its id:
 * by the broker for two minutes, and by the gateway forever.
 */
async function publishUntilStored(
  event: Event,
  { broker }: JobDeps,
  signal: AbortSignal,
): Promise<void> {
  const publish = () =>
    broker.publishEvent(event).catch((cause: unknown) => {
      throw new TransientError('the broker did not store an event', { cause })
    })
  await withRetries(publish, LONG_RETRY_POLICY, signal)
}
