/** A limited process for all work on a job's pictures. */

import type { EncodedFile } from '../write/encode.ts'
import { LimitedProcess, type ProcessLimits } from './limited-process.ts'
import type { MuxOptions } from '../write/mux-video.ts'
import { Turns } from './turns.ts'
import type { VideoProgress } from '../write/video-progress.ts'
import type { PreparedVideo, VideoOptions } from '../write/prepare-video.ts'

/** Lower priority than the model and the sound. */
export const VIDEO_LIMITS: ProcessLimits = { bytesMax: 2 ** 31, secondsMax: 7_200, niceness: 5 }

/** How many videos are encoded at once; each may take memory up to the limit, and a CPU. */
const VIDEOS_AT_ONCE = 8
const turns = new Turns(VIDEOS_AT_ONCE)

export type VideoTask = ({ do: 'prepare' } & VideoOptions) | ({ do: 'mux' } & MuxOptions)

const WORKER = new URL('./video-worker.ts', import.meta.url)

export class VideoProcess {
  readonly #process: LimitedProcess<VideoTask>
  readonly #signal: AbortSignal

  /**
   * @param folder the folder of its files; it reads and writes nothing else
   * @param signal ends the process, and makes all calls reject with its reason
   */
  constructor(folder: string, signal: AbortSignal, limits = VIDEO_LIMITS) {
    signal.throwIfAborted()
    this.#signal = signal
    this.#process = new LimitedProcess(WORKER, limits, { writes: [folder] })
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  /**
   * Starts when its turn among the videos of all jobs comes.
   * @throws the signal's reason once aborted; Error if there is no video within the limits
   */
  prepare(
    options: VideoOptions,
    onProgress: (progress: VideoProgress) => void = () => {},
  ): Promise<PreparedVideo> {
    const prepare = () =>
      this.#process.call<PreparedVideo>({ do: 'prepare', ...options }, onProgress)
    return turns.take(this.#signal, prepare)
  }

  /** @throws like `prepare`; FfmpegCallError if the disk is full */
  mux(options: MuxOptions): Promise<EncodedFile> {
    return this.#process.call({ do: 'mux', ...options })
  }

  /** Kills the process. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#abort)
    this.#process.close()
  }

  readonly #abort = () => this.#process.close(this.#signal.reason)
}
