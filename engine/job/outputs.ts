/**
 * Writes targets and residual of a job into files: sound and, when the source has a picture, video.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Event, OutputName, OutputPart, StoredFile } from '../../shared/messages.ts'
import { beginSpan, type OpenSpan } from '../../shared/telemetry/tracing.ts'
import { allSettledOrThrow } from './all-settled-or-throw.ts'
import {
  createEncoder,
  type EncodedFile,
  type Encoder,
  type EncoderOptions,
} from '../media/encode.ts'
import { Peaks } from './peaks.ts'
import { isDiskFull } from '../media/ffmpeg.ts'
import type { PreparedVideo } from '../media/prepare-video.ts'
import { VideoProcess } from '../media/video-process.ts'

export interface OutputsOptions {
  /** What is written. */
  names: readonly OutputName[]
  /** Where the files go. */
  folder: string
  encoding: EncoderOptions
  /** The source's file, when it has a picture. */
  videoPath: string | null
  /** Its stream that is separated, with which the picture stays in step. */
  soundIndex: number
  /** Whether peaks are stored beside them. */
  hasPeaks: boolean
  signal: AbortSignal
  log(message: string): void
}

/** Stores a complete file; returns its place, if it has one of its own. */
export type Store = (
  part: OutputPart,
  path: string,
  contentType: string,
) => Promise<string | undefined>

export type Stored = Extract<Event, { type: 'completed' }>['outputs']

/** Planar samples, of one length, of each output. */
export type Parts = ReadonlyMap<OutputName, readonly Float32Array[]>

interface Writer {
  sound: Encoder
  /** Until the sound is whole. */
  encoding: OpenSpan
  /** The sound track of the video. */
  track: Encoder | null
}

export class Outputs {
  readonly #options: OutputsOptions
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  /** Null: there is no picture. */
  readonly #pictures: VideoProcess | null
  /** Null: there is no picture, or none that an MP4 could show. */
  readonly #video: Promise<PreparedVideo | null>
  readonly #writers = new Map<OutputName, Writer>()
  readonly #peaks: Peaks | null

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
      for (const name of options.names) outputs.#writers.set(name, await outputs.#openWriter(name))
      return outputs
    } catch (error) {
      await outputs.abort()
      throw error
    }
  }

  /** What the files of the sound hold: not every format can hold what the mixture has. */
  get sound(): { sampleRate: number; channels: number } {
    return this.#writers.get('target')!.sound
  }

  /** Adds planar samples to all. */
  async write(parts: Parts): Promise<void> {
    const writing = [...this.#writers].flatMap(([name, { sound, track }]) => {
      const samples = parts.get(name)!
      return [sound.write(samples), track?.write(samples)]
    })
    // While other threads write. If it throws, the writing is awaited nonetheless.
    const collecting = (async () => this.#peaks?.add(parts))()
    await allSettledOrThrow([...writing, collecting])
  }

  /**
   * Completes the files and hands each to `store` as soon as it is whole.
   * @throws what `store` throws; Error when the disk is full
   */
  async finish(store: Store): Promise<Stored> {
    const [peaks, ...stored] = await allSettledOrThrow<Stored['target'] | undefined>([
      this.#peaks ? this.#storePeaks(this.#peaks, store) : undefined,
      ...[...this.#writers].map(([name, writer]) => this.#finish(name, writer, store)),
    ])
    this.#pictures?.close()
    const outputs = [...this.#writers.keys()].map((name, i) => [name, stored[i]])
    return { ...(Object.fromEntries(outputs) as Stored), ...(peaks && { peaks }) }
  }

  async #storePeaks(peaks: Peaks, store: Store): Promise<StoredFile> {
    const path = join(this.#options.folder, 'peaks')
    const json = Buffer.from(peaks.toJson())
    await writeFile(path, json)
    const contentType = 'application/json'
    const place = await store('peaks', path, contentType)
    return storedFile({ contentType, extension: 'json', bytes: json.length }, place)
  }

  /** Aborts. The caller removes what is in the folder. */
  async abort(): Promise<void> {
    this.#stop.abort()
    const writers = [...this.#writers.values()]
    for (const { encoding } of writers) encoding.end({ code: 'INTERRUPTED' })
    await Promise.allSettled([
      this.#video,
      ...writers.flatMap(({ sound, track }) => [sound.abort(), track?.abort()]),
    ])
  }

  async #openWriter(name: OutputName): Promise<Writer> {
    const { folder, encoding, videoPath } = this.#options
    const sound = await createEncoder(join(folder, name), encoding)
    const track =
      videoPath === null
        ? null
        : await createEncoder(join(folder, `${name}_track`), { ...encoding, format: 'aac' })
    return { sound, track, encoding: beginSpan(`encode ${name}`) }
  }

  async #finish(
    name: OutputName,
    { sound, track, encoding }: Writer,
    store: Store,
  ): Promise<Stored['target']> {
    const soundPath = join(this.#options.folder, name)
    const storeSound = async () => {
      const file = await sound.finish()
      encoding.end()
      return storedFile(file, await store(name, soundPath, file.contentType))
    }
    const storeVideo = async () => {
      await track?.finish()
      const file = await this.#makeVideo(name)
      const part = `${name}_video` as const
      if (!file) return null
      const path = join(this.#options.folder, part)
      return storedFile(file, await store(part, path, file.contentType))
    }
    const [file, video] = await allSettledOrThrow([storeSound(), storeVideo()])
    return { ...file!, ...(video && { video }) }
  }

  async #makeVideo(name: OutputName): Promise<EncodedFile | null> {
    const { folder } = this.#options
    const video = await this.#video
    if (!video) return null
    const audioPath = join(folder, `${name}_track`)
    const path = join(folder, `${name}_video`)
    const making = this.#pictures!.mux({ video, audioPath, path })
    return this.#orNull(`${name} video`, making)
  }

  async #prepareVideo(): Promise<PreparedVideo | null> {
    const { videoPath: path, soundIndex, folder, log } = this.#options
    if (path === null) return null
    const video = await this.#orNull('video', this.#pictures!.prepare({ path, soundIndex, folder }))
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
