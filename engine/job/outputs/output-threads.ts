/**
 * Threads that write the sound of outputs. All work on single samples happens here, because the
 * main thread must keep feeding the model.
 */

import { availableParallelism } from 'node:os'
import { memoryOf, type TaskThread } from '../../threads/task-thread.ts'
import { TaskThreads } from '../../threads/task-threads.ts'
import type { LivePart } from './live-parts.ts'
import type { SeparatedSounds } from './mix.ts'
import type { SoundFiles, FileFormat, SoundsOptions } from './output-sounds.ts'

/** `job` identifies the outputs of one job within their thread. */
export type OutputTask = { job: number } & (
  | { do: 'open'; options: SoundsOptions }
  | { do: 'write'; separated: SeparatedSounds }
  | { do: 'finish' }
  | { do: 'abort' }
)

const PROGRAM = new URL('./output-worker.ts', import.meta.url)

export class OutputThreads {
  readonly #threads: TaskThreads<OutputTask>
  #jobs = 0

  /** Starts the threads, so that the first jobs need not wait for them. */
  constructor(cores = availableParallelism()) {
    this.#threads = new TaskThreads(PROGRAM, cores)
    this.#threads.start()
  }

  /**
   * Opens all files of a job.
   * @param signal aborts them; then all calls reject with its reason
   * @throws ThreadLostError; Error if a file cannot be created
   */
  async open(options: SoundsOptions, signal: AbortSignal): Promise<SoundsInThread> {
    const job = ++this.#jobs
    const thread = this.#threads.next()
    const format = await thread.call<FileFormat>({ do: 'open', job, options })
    return new SoundsInThread(job, thread, { format, signal })
  }

  stop(): Promise<void> {
    return this.#threads.stop()
  }
}

/** The interface of `OutputSounds` in another thread. */
export class SoundsInThread {
  readonly format: FileFormat
  readonly #job: number
  readonly #thread: TaskThread<OutputTask>
  readonly #signal: AbortSignal
  #aborting: Promise<void> | undefined

  constructor(
    job: number,
    thread: TaskThread<OutputTask>,
    { format, signal }: { format: FileFormat; signal: AbortSignal },
  ) {
    this.format = format
    this.#job = job
    this.#thread = thread
    this.#signal = signal
    if (signal.aborted) this.#abort()
    else signal.addEventListener('abort', this.#abort, { once: true })
  }

  /** Like `OutputSounds.write`; the memory of the samples is transferred. */
  write(separated: SeparatedSounds): Promise<LivePart[]> {
    const memory = memoryOf([separated.mixture, ...separated.sounds].flat())
    return this.#call({ do: 'write', job: this.#job, separated }, memory)
  }

  /** Like `OutputSounds.finish`. */
  async finish(): Promise<SoundFiles> {
    const finished = await this.#call<SoundFiles>({ do: 'finish', job: this.#job })
    this.#signal.removeEventListener('abort', this.#abort)
    return finished
  }

  /** Resolves once nothing is being written any more, after the signal was aborted. */
  async aborted(): Promise<void> {
    await this.#aborting
  }

  readonly #abort = () => {
    this.#aborting = this.#thread.call({ do: 'abort', job: this.#job })
    this.#aborting.catch(() => undefined) // `aborted` throws it
  }

  async #call<T>(task: OutputTask, memory: readonly ArrayBuffer[] = []): Promise<T> {
    this.#signal.throwIfAborted()
    try {
      return await this.#thread.call<T>(task, memory)
    } catch (error) {
      throw this.#signal.aborted ? this.#signal.reason : error
    }
  }
}
