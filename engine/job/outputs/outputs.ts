/**
 * The files of a job's targets and residual: sounds, which a thread writes, and videos if the
 * source has a picture.
 */

import { join } from 'node:path'
import { beginTraceSpan, type TraceSpan } from '../../../shared/telemetry/tracing.ts'
import type { Event, OutputName, OutputPart, StoredFile } from '../../../shared/messages.ts'
import { allSettledOrThrow } from '../all-settled-or-throw.ts'
import type { EncodedFile } from '../../media/write/encode.ts'
import { isDiskFull } from '../../media/ffmpeg.ts'
import type { LivePart } from './live-parts.ts'
import type { SeparatedSounds } from './mix.ts'
import type { SoundsOptions } from './output-sounds.ts'
import type { OutputThreads, SoundsInThread } from './output-threads.ts'
import { trackPath, type LocalFile } from './output-writer.ts'
import type { VideoProgress } from '../../media/write/video-progress.ts'
import type { PreparedVideo } from '../../media/write/prepare-video.ts'
import { VideoProcess } from '../../media/process/video-process.ts'

export interface OutputsOptions extends Omit<SoundsOptions, 'hasTracks' | 'isLive'> {
  /** The source's file, if it has a picture. */
  videoPath: string | null
  /** The source's stream that is separated, with which the picture stays in sync, and its track. */
  soundIndex: number
  track?: number | undefined
  /** Called with each part of the live preview; absent if none is made. */
  onLivePart?: ((part: LivePart) => void) | undefined
  signal: AbortSignal
  log(message: string): void
  /** Called while the picture is re-encoded, and once more at its end. */
  onVideoProgress(progress: VideoProgress): void
}

/** Stores a complete file; returns its location, if it has one of its own. */
export type Store = (
  part: OutputPart,
  path: string,
  contentType: string,
) => Promise<string | undefined>

export type OutputsResult = Extract<Event, { type: 'completed' }>['outputs'] & { gain_db: number }

export class Outputs {
  readonly #options: OutputsOptions
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  readonly #encoding: TraceSpan
  /** Null without a picture. */
  readonly #videoProcess: VideoProcess | null
  /** Null without a picture, or if an MP4 could not show it. */
  readonly #video: Promise<PreparedVideo | null>
  #sounds!: SoundsInThread

  private constructor(options: OutputsOptions) {
    this.#options = options
    this.#signal = AbortSignal.any([options.signal, this.#stop.signal])
    this.#encoding = beginTraceSpan('encode')
    this.#videoProcess =
      options.videoPath === null ? null : new VideoProcess(options.folder, this.#signal)
    this.#video = this.#prepareVideo()
    this.#video.catch(() => undefined) // awaited at the end; marked as handled until then
  }

  /** Opens all files; a video that needs it is transcoded at the same time. */
  static async open(options: OutputsOptions, threads: OutputThreads): Promise<Outputs> {
    const outputs = new Outputs(options)
    const { names, folder, encoding, hasPreview, videoPath } = options
    const what = { hasPreview, isLive: options.onLivePart !== undefined }
    const sounds = { names, folder, encoding, ...what, hasTracks: videoPath !== null }
    try {
      outputs.#sounds = await threads.open(sounds, outputs.#signal)
      outputs.#logLayouts()
      return outputs
    } catch (error) {
      await outputs.abort()
      throw error
    }
  }

  /** Format of the files, since not every format can hold what the mixture has. */
  get sound(): { sampleRate: number; channels: number } {
    return this.#sounds.format
  }

  /** Adds samples to all files; their memory is transferred. */
  async write(separated: SeparatedSounds): Promise<void> {
    const parts = await this.#sounds.write(separated)
    for (const part of parts) this.#options.onLivePart?.(part)
  }

  /**
   * Completes the files with one gain and hands them to `store`: all sounds, peaks and the preview
   * at once, and each video as soon as it is complete.
   * @throws whatever `store` throws; Error if the disk is full
   */
  async finish(store: Store): Promise<OutputsResult> {
    const finished = await this.#sounds.finish()
    const { gainDb, sounds, preview: previewFile, previewProblem, liveProblem } = finished
    const { log } = this.#options
    if (previewProblem !== null) log(`No preview could be made: ${previewProblem}.`)
    if (liveProblem !== null) log(`The live preview ended early: ${liveProblem}.`)
    this.#encoding.end()
    const [peaks, preview, ...stored] = await allSettledOrThrow<OutputsResult['target'] | null>([
      storeFile('peaks', finished.peaks, store),
      previewFile && storeFile('preview', previewFile, store),
      ...[...sounds].map(([name, sound]) => this.#store(name, sound, store)),
    ])
    this.#videoProcess?.close()
    const outputs = [...sounds.keys()].map((name, i) => [name, stored[i]])
    return {
      ...(Object.fromEntries(outputs) as OutputsResult),
      peaks: peaks!,
      ...(preview && { preview }),
      gain_db: gainDb,
    }
  }

  /** Aborts. The caller removes the folder's contents. */
  async abort(): Promise<void> {
    this.#stop.abort()
    this.#encoding.end({ code: 'INTERRUPTED' })
    await Promise.allSettled([this.#video, this.#sounds?.aborted()])
  }

  #logLayouts(): void {
    const { layoutChange, trackLayoutChange } = this.#sounds.format
    if (layoutChange) this.#options.log(layoutChange)
    if (trackLayoutChange) this.#options.log(`In the videos: ${trackLayoutChange}`)
  }

  async #store(name: OutputName, sound: LocalFile, store: Store): Promise<OutputsResult['target']> {
    const storeVideo = async () => {
      const file = await this.#makeVideo(name)
      const part = `${name}_video` as const
      if (!file) return null
      return storeFile(part, { ...file, path: join(this.#options.folder, part) }, store)
    }
    const [file, video] = await allSettledOrThrow([storeFile(name, sound, store), storeVideo()])
    return { ...file!, ...(video && { video }) }
  }

  async #makeVideo(name: OutputName): Promise<EncodedFile | null> {
    const video = await this.#video
    if (!video) return null
    const { folder } = this.#options
    const path = join(folder, `${name}_video`)
    const making = this.#videoProcess!.mux({ video, audioPath: trackPath(folder, name), path })
    return this.#orNull(`${name} video`, making)
  }

  async #prepareVideo(): Promise<PreparedVideo | null> {
    const { videoPath: path, soundIndex, track, folder, log, onVideoProgress } = this.#options
    if (path === null) return null
    const preparing = this.#videoProcess!.prepare(
      { path, soundIndex, track, folder },
      onVideoProgress,
    )
    const video = await this.#orNull('video', preparing)
    onVideoProgress({ done: 1 })
    if (!video) return null
    log(describeVideo(video))
    return video
  }

  /** A failure of the picture must not cost the client the sound. */
  async #orNull<T>(what: string, making: Promise<T>): Promise<T | null> {
    try {
      return await making
    } catch (error) {
      this.#signal.throwIfAborted()
      if (isDiskFull(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.log(`No ${what} could be made, so there is sound only: ${reason}.`)
      return null
    }
  }
}

const describeVideo = ({ codec, recodedBecause: because, isInterlaced }: PreparedVideo) =>
  because === null
    ? `The picture (${codec}) is copied into the videos as it is.`
    : `The picture (${codec}) is re-encoded as h264 for the videos: ${because}.` +
      (isInterlaced ? ' It stays interlaced.' : '')

async function storeFile(
  part: OutputPart,
  { path, contentType, extension, bytes }: LocalFile,
  store: Store,
): Promise<StoredFile> {
  const place = await store(part, path, contentType)
  return { content_type: contentType, extension, bytes, ...(place !== undefined && { place }) }
}
