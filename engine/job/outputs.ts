/**
 * Writes targets and residual of a job into files: sound and, when the source has a picture, video.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Event, OutputName, OutputPart, StoredFile } from '../../shared/messages.ts'
import { allSettledOrThrow } from './all-settled-or-throw.ts'
import type { EncodedFile, EncoderOptions } from '../media/write/encode.ts'
import { isDiskFull } from '../media/ffmpeg.ts'
import { factorOf, gainDbFor, peakOf } from './output-gain.ts'
import { OutputWriter } from './output-writer.ts'
import { Peaks } from './peaks.ts'
import type { PictureProgress } from '../media/write/picture-progress.ts'
import type { PreparedVideo } from '../media/write/prepare-video.ts'
import { VideoProcess } from '../media/process/video-process.ts'

export interface OutputsOptions {
  /** Outputs to write. */
  names: readonly OutputName[]
  /** Folder of the files. */
  folder: string
  encoding: EncoderOptions
  /** The source's file, when it has a picture. */
  videoPath: string | null
  /** Its stream that is separated, with which the picture stays in step, and its track. */
  soundIndex: number
  track?: number | undefined
  /** Whether peaks are stored with them. */
  hasPeaks: boolean
  signal: AbortSignal
  log(message: string): void
  /** Called as the picture is coded again, and once nothing of it is left to code. */
  onPicture(progress: PictureProgress): void
}

/** Stores a complete file; returns its place, if it has one of its own. */
export type Store = (
  part: OutputPart,
  path: string,
  contentType: string,
) => Promise<string | undefined>

export type Stored = Extract<Event, { type: 'completed' }>['outputs'] & { gain_db: number }

/** Planar samples, of one length, of each output. */
export type Parts = ReadonlyMap<OutputName, readonly Float32Array[]>

export class Outputs {
  readonly #options: OutputsOptions
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  /** Null: there is no picture. */
  readonly #pictures: VideoProcess | null
  /** Null: there is no picture, or none that an MP4 could show. */
  readonly #video: Promise<PreparedVideo | null>
  readonly #writers = new Map<OutputName, OutputWriter>()
  readonly #peaks: Peaks | null
  /** The greatest absolute sample of all outputs; full scale is 1. */
  #peak = 0

  private constructor(options: OutputsOptions) {
    this.#options = options
    this.#peaks = options.hasPeaks ? new Peaks(options.names, options.encoding) : null
    this.#signal = AbortSignal.any([options.signal, this.#stop.signal])
    this.#pictures =
      options.videoPath === null ? null : new VideoProcess(options.folder, this.#signal)
    this.#video = this.#prepareVideo()
    this.#video.catch(() => undefined) // awaited at the end; marked as handled until then
  }

  /** Opens all files; a video that must be transcoded is transcoded meanwhile. */
  static async open(options: OutputsOptions): Promise<Outputs> {
    const outputs = new Outputs(options)
    try {
      for (const name of options.names) {
        const { folder, encoding, videoPath } = options
        const hasTrack = videoPath !== null
        const writing = { name, folder, encoding, hasTrack, signal: outputs.#signal }
        outputs.#writers.set(name, await OutputWriter.open(writing))
      }
      outputs.#logLayouts()
      return outputs
    } catch (error) {
      await outputs.abort()
      throw error
    }
  }

  /** Sound of the files: not every format can hold what the mixture has. */
  get sound(): { sampleRate: number; channels: number } {
    return this.#writers.get('target')!.sound
  }

  /** Adds planar samples to all. Once one is beyond full scale, all files wait for their gain. */
  async write(parts: Parts): Promise<void> {
    this.#peak = Math.max(this.#peak, ...[...parts.values()].map(peakOf))
    const writers = [...this.#writers]
    if (this.#peak > 1) await allSettledOrThrow(writers.map(([, writer]) => writer.postpone()))
    const writing = writers.map(([name, writer]) => writer.write(parts.get(name)!))
    // While other threads write. If it throws, the writing is awaited nonetheless.
    const collecting = (async () => this.#peaks?.add(parts))()
    await allSettledOrThrow([...writing, collecting])
  }

  /**
   * Completes the files, all at one gain, and hands each to `store` as soon as it is whole.
   * @throws what `store` throws; Error when the disk is full
   */
  async finish(store: Store): Promise<Stored> {
    const gainDb = gainDbFor(this.#peak)
    const gain = factorOf(gainDb)
    const [peaks, ...stored] = await allSettledOrThrow<Stored['target'] | undefined>([
      this.#peaks ? this.#storePeaks(this.#peaks.toJson(gain), store) : undefined,
      ...[...this.#writers].map(([name, writer]) => this.#finish(name, writer, { gain, store })),
    ])
    this.#pictures?.close()
    const outputs = [...this.#writers.keys()].map((name, i) => [name, stored[i]])
    return { ...(Object.fromEntries(outputs) as Stored), ...(peaks && { peaks }), gain_db: gainDb }
  }

  async #storePeaks(text: string, store: Store): Promise<StoredFile> {
    const path = join(this.#options.folder, 'peaks')
    const json = Buffer.from(text)
    await writeFile(path, json)
    const contentType = 'application/json'
    const place = await store('peaks', path, contentType)
    return storedFile({ contentType, extension: 'json', bytes: json.length }, place)
  }

  /** Aborts. The caller removes what is in the folder. */
  async abort(): Promise<void> {
    this.#stop.abort()
    const aborted = [...this.#writers.values()].map((writer) => writer.abort())
    await Promise.allSettled([this.#video, ...aborted])
  }

  /** The same for all outputs. */
  #logLayouts(): void {
    const { sound, track } = this.#writers.get('target')!
    if (sound.layoutChange) this.#options.log(sound.layoutChange)
    if (track?.layoutChange) this.#options.log(`In the videos: ${track.layoutChange}`)
  }

  async #finish(
    name: OutputName,
    writer: OutputWriter,
    { gain, store }: { gain: number; store: Store },
  ): Promise<Stored['target']> {
    await writer.encodePostponed(gain)
    const storeSound = async () => {
      const file = await writer.finishSound()
      return storedFile(file, await store(name, file.path, file.contentType))
    }
    const storeVideo = async () => {
      await writer.finishTrack()
      const file = await this.#makeVideo(name, writer.trackPath)
      const part = `${name}_video` as const
      if (!file) return null
      const path = join(this.#options.folder, part)
      return storedFile(file, await store(part, path, file.contentType))
    }
    const [file, video] = await allSettledOrThrow([storeSound(), storeVideo()])
    return { ...file!, ...(video && { video }) }
  }

  async #makeVideo(name: OutputName, audioPath: string): Promise<EncodedFile | null> {
    const video = await this.#video
    if (!video) return null
    const path = join(this.#options.folder, `${name}_video`)
    const making = this.#pictures!.mux({ video, audioPath, path })
    return this.#orNull(`${name} video`, making)
  }

  async #prepareVideo(): Promise<PreparedVideo | null> {
    const { videoPath: path, soundIndex, track, folder, log, onPicture } = this.#options
    if (path === null) return null
    const preparing = this.#pictures!.prepare({ path, soundIndex, track, folder }, onPicture)
    const video = await this.#orNull('video', preparing)
    onPicture({ done: 1 })
    if (!video) return null
    log(describePicture(video))
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

const describePicture = ({ codec, recodedBecause: because, isInterlaced }: PreparedVideo) =>
  because === null
    ? `The picture (${codec}) is copied into the videos as it is.`
    : `The picture (${codec}) is coded anew as h264 for the videos: ${because}.` +
      (isInterlaced ? ' It stays interlaced.' : '')

const storedFile = (
  { contentType, extension, bytes }: EncodedFile,
  place: string | undefined,
): StoredFile => ({
  content_type: contentType,
  extension,
  bytes,
  ...(place !== undefined && { place }),
})
