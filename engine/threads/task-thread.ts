/** A worker thread that runs tasks; its program calls `answerTasks`. */

import { Worker } from 'node:worker_threads'
import { threadProgram } from '../../shared/process/programs.ts'

const LOST = 'THREAD_LOST'

/**
 * The thread ended before it answered, or what a task needs was lost with an earlier thread. The
 * next task starts a new one.
 */
export class ThreadLostError extends Error {
  override name = 'ThreadLostError'
  readonly code = LOST
}

export interface ThreadTask<Task> {
  call: number
  task: Task
}

/** `code` comes from an error of the system, of FFmpeg, or from a ThreadLostError. */
export interface ThreadError {
  message: string
  code?: unknown
}

export type ThreadAnswer = { call: number } & ({ value: unknown } | { error: ThreadError })

interface PendingTask {
  resolve(value: never): void
  reject(error: Error): void
}

/** Starts with its first task, and again if it has ended. */
export class TaskThread<Task> {
  readonly #program: URL
  readonly #pending = new Map<number, PendingTask>()
  #worker: Worker | null = null
  #calls = 0

  /** @param program the module to run, which calls `answerTasks` */
  constructor(program: URL) {
    this.#program = program
  }

  /** Starts the thread if it is not running. */
  start(): void {
    this.#worker ??= this.#begin()
  }

  /**
   * @param transfer memory of the task that is transferred to the thread
   * @throws ThreadLostError; an Error with the message and `code` of what the work throws
   */
  call<T>(task: Task, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    this.start()
    const worker = this.#worker!
    worker.ref()
    const call = ++this.#calls
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(call, { resolve, reject })
      worker.postMessage({ call, task } satisfies ThreadTask<Task>, transfer)
    })
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate()
  }

  #begin(): Worker {
    const worker = new Worker(threadProgram(this.#program), { eval: true })
    worker.unref() // an idle thread does not keep this process alive, but a task does
    worker.on('message', (answer: ThreadAnswer) => this.#settle(answer))
    let cause: unknown
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => this.#lose(cause))
    return worker
  }

  #settle(answer: ThreadAnswer): void {
    const pending = this.#pending.get(answer.call)
    this.#pending.delete(answer.call)
    if (this.#pending.size === 0) this.#worker?.unref()
    if ('value' in answer) pending?.resolve(answer.value as never)
    else pending?.reject(errorOf(answer.error))
  }

  #lose(cause: unknown): void {
    this.#worker = null
    const error = new ThreadLostError('a worker thread ended', { cause })
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

const errorOf = (error: ThreadError): Error =>
  error.code === LOST
    ? new ThreadLostError(error.message)
    : Object.assign(new Error(error.message), error)

/** Returns the buffers of planar samples, to be transferred; channels may share one. */
export const memoryOf = (planes: readonly Float32Array[]): ArrayBuffer[] => [
  ...new Set(planes.map(({ buffer }) => buffer as ArrayBuffer)),
]
