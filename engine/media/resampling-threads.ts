/**
 * Threads that resample. Converting a second of stereo to 32 kHz and back takes 3 ms, during which
 * the main thread could not feed the model.
 */

import { availableParallelism } from 'node:os'
import type { TaskThread } from '../threads/task-thread.ts'
import { TaskThreads } from '../threads/task-threads.ts'
import type { ResamplerOptions } from './resampler.ts'

/** `stream` identifies a resampler within its thread. */
export type ResamplingTask = { stream: number } & (
  | { do: 'open'; options: ResamplerOptions }
  | { do: 'add'; block: readonly Float32Array[] }
  | { do: 'finish' }
  | { do: 'close' }
)

const PROGRAM = new URL('./resampling-worker.ts', import.meta.url)

export class ResamplingThreads {
  readonly #threads: TaskThreads<ResamplingTask>
  #streams = 0

  /** Threads start when they are first used, because models that take any rate need none. */
  constructor(cores = availableParallelism()) {
    this.#threads = new TaskThreads(PROGRAM, cores)
  }

  open(options: ResamplerOptions): ResamplerInThread {
    this.#streams += 1
    return new ResamplerInThread(this.#streams, this.#threads.next(), options)
  }

  stop(): Promise<void> {
    return this.#threads.stop()
  }
}

/**
 * The interface of a `Resampler` in another thread. If the thread ends, all calls throw
 * ThreadLostError, because the samples it held are lost.
 */
export class ResamplerInThread {
  readonly #stream: number
  readonly #thread: TaskThread<ResamplingTask>
  readonly #opened: Promise<void>

  constructor(stream: number, thread: TaskThread<ResamplingTask>, options: ResamplerOptions) {
    this.#stream = stream
    this.#thread = thread
    this.#opened = thread.call({ do: 'open', stream, options })
    this.#opened.catch(() => undefined) // the next call throws it
  }

  /** Like `Resampler.add`. The samples are copied. */
  async add(block: readonly Float32Array[]): Promise<Float32Array[][]> {
    await this.#opened
    return this.#thread.call({ do: 'add', stream: this.#stream, block })
  }

  /** Like `Resampler.finish`. */
  async finish(): Promise<Float32Array[][]> {
    await this.#opened
    return this.#thread.call({ do: 'finish', stream: this.#stream })
  }

  async close(): Promise<void> {
    await this.#opened
    await this.#thread.call({ do: 'close', stream: this.#stream })
  }
}
