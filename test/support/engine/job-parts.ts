/**
 * Makes a job and the dependencies with which an engine serves it; each test replaces the part it
 * tests.
 */

import type { Scheduler } from '../../../engine/compute/scheduler.ts'
import { loadConfig } from '../../../engine/config.ts'
import { createJobMedia } from '../../../engine/job/job-media.ts'
import type { OutputThreads } from '../../../engine/job/outputs/output-threads.ts'
import type { JobDeps } from '../../../engine/job/separate-job.ts'
import { SoundProcesses } from '../../../engine/media/process/sound-process.ts'
import { ResamplingThreads } from '../../../engine/media/resampling-threads.ts'
import { createPublicFetch } from '../../../shared/http/public-fetch.ts'
import type { Job } from '../../../shared/messages.ts'
import { DEFAULT_OPTIONS } from '../../../shared/separation-options.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'
import { TAGGER, type TaggerConfig } from '../../../models/tagger/config.ts'
import type { ChunkOrder } from '../../../engine/compute/compute-messages.ts'
import { melFraming, stepSamples } from '../../../models/tagger/mel.ts'
import { FakeClock } from '../basics/fake-clock.ts'
import { PLAIN_MODEL } from '../models/plain-model.ts'

/** @param url of the source and the outputs */
export const makeJob = (requestId: string, url = '', more: Partial<Job> = {}): Job => ({
  request_id: requestId,
  account_id: 'a',
  created_at: '',
  prompt: 'x',
  options: DEFAULT_OPTIONS,
  interruptions: 0,
  source: { kind: 'file', url, file_name: '' },
  upload_urls: { target: url, residual: url, target_video: url, residual_video: url, peaks: url },
  ...more,
})

interface JobPlace {
  /** Folder for the files of jobs. */
  folder: string
  threads: OutputThreads
  separate: (...call: Parameters<Scheduler['separate']>) => Promise<unknown>
  settings?: Readonly<Record<string, string>>
}

/**
 * Makes dependencies with one model, a device, a store and a disk that never fail, and callbacks
 * that do nothing.
 */
export function makeJobDeps({ folder, threads, separate, settings }: JobPlace): JobDeps {
  const nothing = () => undefined
  return {
    broker: { publishProgress: nothing, publishEvent: async () => undefined },
    scheduler: { separate } as unknown as Scheduler,
    resampling: new ResamplingThreads(),
    media: createJobMedia(threads),
    soundProcesses: new SoundProcesses(folder),
    attempts: 1,
    models: [PLAIN_MODEL],
    tagger: null,
    clock: new FakeClock(),
    log: createLogger('test', 'silent'),
    config: loadConfig({ NATS_URL: 'nats://127.0.0.1:1', SCRATCH_DIR: folder, ...settings }),
    publicFetch: createPublicFetch({ allowCidrs: [] }),
    store: { reportFailure: nothing, reportSuccess: nothing, isAway: async () => false },
    scratch: { isFull: async () => false },
    onDeviceFailed: nothing,
    onSeparated: nothing,
    onFailed: nothing,
  }
}

export const isForTagger = ({ model }: ChunkOrder): boolean => model === TAGGER

/**
 * Makes the tagger's logits for a chunk.
 * @param logitOf returns the logit of a class, the same in every step
 */
export function makeTags(
  { classes }: TaggerConfig,
  { channels, sampleRate }: ChunkOrder['request']['chunk'],
  logitOf: (name: string, i: number) => number,
): Float32Array {
  const { names } = classes
  const steps = Math.ceil(channels[0]!.length / stepSamples(melFraming(sampleRate)))
  return Float32Array.from({ length: steps * names.length }, (_, i) =>
    logitOf(names[i % names.length]!, i),
  )
}
