/** Opens the outputs of a job in the way that it asks for, with their live preview. */

import { CHECKPOINT_MEDIA_SECONDS_MIN } from '../../../shared/checkpoint.ts'
import type { Job, OutputName } from '../../../shared/messages.ts'
import type { Logger } from '../../../shared/telemetry/log.ts'
import type { Mixture } from '../../media/read/mixture.ts'
import type { JobMedia, JobOutputs } from '../job-media.ts'
import { LivePreview, type LivePreviewOptions } from './live-preview.ts'
import type { OutputsOptions } from './outputs.ts'

interface OutputsContext {
  attemptId: string
  folder: string
  sourcePath: string
  mixture: Mixture
  /** Length according to the packets; 0 if unknown. */
  seconds: number
  names: readonly OutputName[]
  lfeHasFullRange: boolean
  onVideoProgress: OutputsOptions['onVideoProgress']
  onLive: LivePreviewOptions['onStored']
  reporter: { log(message: string): void }
  signal: AbortSignal
}

interface OpenedOutputs {
  outputs: JobOutputs
  /** Undefined if the job has none. */
  live: LivePreview | undefined
}

export async function openOutputs(
  job: Job,
  context: OutputsContext,
  { media, log }: { media: JobMedia; log: Logger },
): Promise<OpenedOutputs> {
  const { folder, sourcePath, mixture, names, lfeHasFullRange, onVideoProgress, reporter, signal } =
    context
  const { hasVideo, sampleRate, channels, channelMask, tags, cover } = mixture
  const { output_format: format } = job.options
  const live = livePreviewOf(job, context, { media, log })
  const outputs = await media.openOutputs({
    names: [...names, 'residual'],
    folder,
    encoding: { format, sampleRate, channels, channelMask, lfeHasFullRange, tags, cover },
    videoPath: hasVideo ? sourcePath : null,
    soundIndex: mixture.streamIndex,
    track: mixture.track,
    hasPreview: job.upload_urls.preview !== undefined,
    onLivePart: live?.add,
    signal,
    log: reporter.log,
    onVideoProgress,
  })
  return { outputs, live }
}

/** Short media are done too soon for a live preview, like for a checkpoint. */
function livePreviewOf(
  { live_preview_urls: urls, upload_urls: { preview } }: Job,
  { attemptId, seconds, onLive }: OutputsContext,
  deps: { media: JobMedia; log: Logger },
): LivePreview | undefined {
  if (!urls || preview === undefined || seconds <= CHECKPOINT_MEDIA_SECONDS_MIN) return undefined
  return new LivePreview({ ...deps, urls, attemptId, onStored: onLive })
}
