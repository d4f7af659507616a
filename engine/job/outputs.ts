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
  /** True if peaks are stored with them. */
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

type WrittenFile = EncodedFile & { path: string }

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
   * Completes the files, all at one gain, and hands them to `store`: all sounds and the peaks at
   * once, each video as soon as it is whole.
   * @throws what `store` throws; Error when the disk is full
   */
  async finish(store: Store): Promise<Stored> {
    const gainDb = gainDbFor(this.#peak)
    const gain = factorOf(gainDb)
    const writers = [...this.#writers]
    const writingPeaks = this.#peaks && this.#writePeaks(this.#peaks.toJson(gain))
    const [written, ...sounds] = await allSettledOrThrow<WrittenFile | null>([
      writingPeaks,
      ...writers.map(([, writer]) => this.#finishSound(writer, gain)),
    ])
    const [peaks, ...stored] = await allSettledOrThrow<Stored['target'] | null>([
      written ? storeFile('peaks', written, store) : null,
      ...writers.map(([name, writer], i) => this.#store(name, writer, sounds[i]!, store)),
    ])
    this.#pictures?.close()
    const outputs = writers.map(([name], i) => [name, stored[i]])
    return { ...(Object.fromEntries(outputs) as Stored), ...(peaks && { peaks }), gain_db: gainDb }
  }

  async #writePeaks(text: string): Promise<WrittenFile> {
    const path = join(this.#options.folder, 'peaks')
    const json = Buffer.from(text)
    await writeFile(path, json)
    return { path, contentType: 'application/json', extension: 'json', bytes: json.length }
  }

  async #finishSound(writer: OutputWriter, gain: number): Promise<WrittenFile> {
    await writer.encodePostponed(gain)
    return writer.finishSound()
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

  async #store(
    name: OutputName,
    writer: OutputWriter,
    sound: WrittenFile,
    store: Store,
  ): Promise<Stored['target']> {
    const storeVideo = async () => {
      await writer.finishTrack()
      const file = await this.#makeVideo(name, writer.trackPath)
      const part = `${name}_video` as const
      if (!file) return null
      return storeFile(part, { ...file, path: join(this.#options.folder, part) }, store)
    }
    const [file, video] = await allSettledOrThrow([storeFile(name, sound, store), storeVideo()])
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
    : `The picture (${codec}) is re-encoded as h264 for the videos: ${because}.` +
      (isInterlaced ? ' It stays interlaced.' : '')

async function storeFile(
  part: OutputPart,
  { path, contentType, extension, bytes }: WrittenFile,
  store: Store,
): Promise<StoredFile> {
  const place = await store(part, path, contentType)
  return { content_type: contentType, extension, bytes, ...(place !== undefined && { place }) }
}
