import { TaskThread } from './task-thread.ts'

/** One thread for this many cores: one for two cores, four for sixteen or more. */
const CORES_PER_THREAD = 4
const THREADS_MAX = 4

/** Several threads with one program, for one kind of work outside the model. */
export class TaskThreads<Task> {
  readonly #threads: readonly TaskThread<Task>[]
  #next = 0

  /** @param program as for `TaskThread` */
  constructor(program: URL, cores: number) {
    const length = Math.min(THREADS_MAX, Math.max(1, Math.floor(cores / CORES_PER_THREAD)))
    this.#threads = Array.from({ length }, () => new TaskThread<Task>(program))
  }

  /** Starts all threads, which would otherwise start with their first tasks. */
  start(): void {
    for (const thread of this.#threads) thread.start()
  }

  /** Returns the threads in turn. */
  next(): TaskThread<Task> {
    this.#next = (this.#next + 1) % this.#threads.length
    return this.#threads[this.#next]!
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()))
  }
}
