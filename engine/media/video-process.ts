/**
 * All work on pictures, in a process of its own. The memory that pictures take is known only while
 * they are decoded, and native memory can be limited only for a whole process.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AVERROR_ENOSPC } from 'node-av/constants'
import type { EncodedFile } from './encode.ts'
import { CallError } from './ffmpeg.ts'
import type { MuxOptions } from './mux-video.ts'
import type { PreparedVideo, VideoOptions } from './prepare-video.ts'

export interface VideoLimits {
  /** Of the process's memory that can be written, the stacks of its threads included. */
  bytesMax: number
  /** Of one call. */
  secondsMax: number
}

export const VIDEO_LIMITS: VideoLimits = { bytesMax: 2 ** 31, secondsMax: 7_200 }

export interface VideoCall {
  id: number
  task: ({ do: 'prepare' } & VideoOptions) | ({ do: 'mux' } & MuxOptions)
}

export type VideoAnswer =
  { id: number; value: unknown } | { id: number; error: { message: string; isDiskFull: boolean } }

interface PendingCall {
  resolve(value: never): void
  reject(error: unknown): void
}

export class VideoProcess {
  readonly #child: ChildProcess
  readonly #secondsMax: number
  readonly #signal: AbortSignal
  readonly #pending = new Map<number, PendingCall>()
  #calls = 0
  /** Why calls are no longer served. */
  #end: unknown = null

  /** @param signal ends the process, and all calls with its reason */
  constructor(signal: AbortSignal, { bytesMax, secondsMax } = VIDEO_LIMITS) {
    signal.throwIfAborted()
    this.#signal = signal
    this.#secondsMax = secondsMax
    this.#child = startWorker(bytesMax)
    this.#child.on('message', (answer: VideoAnswer) => this.#settle(answer))
    this.#child.on('error', (error) => this.#stop(error))
    this.#child.on('exit', (code, signalName) =>
      this.#stop(
        new Error(
          `its process ended (${signalName ?? code}), for it takes more than ` +
            `${Math.floor(bytesMax / 2 ** 20)} MiB of memory or is damaged`,
        ),
      ),
    )
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  /** @throws the signal's reason once aborted; Error when there is no video within the limits */
  prepare(options: VideoOptions): Promise<PreparedVideo> {
    return this.#call({ do: 'prepare', ...options })
  }

  /** @throws as `prepare`; CallError when the disk is full */
  mux(options: MuxOptions): Promise<EncodedFile> {
    return this.#call({ do: 'mux', ...options })
  }

  /** Kills the process. */
  close(): void {
    this.#stop(new Error('it was closed'))
  }

  async #call<T>(task: VideoCall['task']): Promise<T> {
    if (this.#end !== null) throw this.#end
    const id = ++this.#calls
    const late = () => this.#stop(new Error(`it takes longer than ${this.#secondsMax} s`))
    const timer = setTimeout(late, this.#secondsMax * 1_000)
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject })
        this.#child.send({ id, task } satisfies VideoCall)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  #settle(answer: VideoAnswer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if ('value' in answer) pending?.resolve(answer.value as never)
    else pending?.reject(errorOf(answer.error))
  }

  readonly #abort = () => this.#stop(this.#signal.reason)

  #stop(reason: unknown): void {
    this.#end ??= reason
    this.#signal.removeEventListener('abort', this.#abort)
    this.#child.kill('SIGKILL')
    for (const { reject } of this.#pending.values()) reject(this.#end)
    this.#pending.clear()
  }
}

const errorOf = ({ message, isDiskFull }: { message: string; isDiskFull: boolean }): Error =>
  isDiskFull ? new CallError(AVERROR_ENOSPC, 'write the video') : new Error(message)

const WORKER_PATH = fileURLToPath(new URL('./video-worker.ts', import.meta.url))

/**
 * Sets the limit, in kilobytes of data, lets the model and the sound go first, and becomes the rest
 * of its arguments. A limit of address space would not work: V8 reserves far more than it uses.
 */
const LIMITED = 'ulimit -c 0 && ulimit -d "$1" && shift && exec nice -n 5 "$@"'

/** Its environment is empty: it reads untrusted files, and needs no secrets. */
function startWorker(bytesMax: number): ChildProcess {
  const node = [process.execPath, '--import', import.meta.resolve('tsx'), WORKER_PATH]
  const kilobytes = String(Math.floor(bytesMax / 1_024))
  return spawn('/bin/sh', ['-c', LIMITED, 'sh', kilobytes, ...node], {
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}
