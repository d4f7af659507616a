/**
 * Threads that resample. A second of stereo to 32 kHz and back takes 3 ms, in which the main
 * thread, which feeds the model, would do nothing else.
 */

import { availableParallelism } from 'node:os'
import type { TaskThread } from '../threads/task-thread.ts'
import { TaskThreads } from '../threads/task-threads.ts'
import type { ResamplerOptions } from './resampler.ts'

/** `stream` names a resampler in its thread. */
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

  /** Threads start on first use, because models that take any rate need none. */
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
 * `Resampler` of another thread. Calls under way throw ThreadLostError if that ends, and later ones
 * an Error: the samples that it held are gone.
 */
export class ResamplerInThread {
  readonly #stream: number
  readonly #thread: TaskThread<ResamplingTask>
  readonly #opened: Promise<void>

  constructor(stream: number, thread: TaskThread<ResamplingTask>, options: ResamplerOptions) {
    this.#stream = stream
    this.#thread = thread
    this.#opened = thread.call({ do: 'open', stream, options })
    this.#opened.catch(() => undefined) // whoever uses it gets it
  }

  /** As `Resampler.add`. The samples are copied. */
  async add(block: readonly Float32Array[]): Promise<Float32Array[][]> {
    await this.#opened
    return this.#thread.call({ do: 'add', stream: this.#stream, block })
  }

  /** As `Resampler.finish`. */
  async finish(): Promise<Float32Array[][]> {
    await this.#opened
    return this.#thread.call({ do: 'finish', stream: this.#stream })
  }

  async close(): Promise<void> {
    await this.#opened
    await this.#thread.call({ do: 'close', stream: this.#stream })
  }
}
