/**
 * Threads that prepare chunks for models that want it (models/prepare-chunk.ts), so that the
 * compute thread, for which the device waits, does not have to.
 */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Chunk } from '../../models/model.ts'
import { isPreparing } from '../../models/prepare-chunk.ts'
import { ComputeLostError, ModelError } from './compute-errors.ts'
import { loaderOf } from './thread-program.ts'

/** Threads are made for so many cores each: one for two cores, four for sixteen and more. */
const CORES_PER_THREAD = 4
const THREADS_MAX = 4

export interface PreparationTask {
  call: number
  model: string
  chunk: Chunk
}

export type PreparationReply = { call: number } & ({ chunk: Chunk } | { error: string })

interface PendingChunk {
  resolve(chunk: Chunk): void
  reject(error: Error): void
}

export class Preparation {
  readonly #threads: PreparationThread[]
  #next = 0

  constructor(cores = availableParallelism()) {
    const count = Math.min(THREADS_MAX, Math.max(1, Math.floor(cores / CORES_PER_THREAD)))
    this.#threads = Array.from({ length: count }, () => new PreparationThread())
  }

  /**
   * The chunk as its model wants it; its memory is transferred.
   * @throws ModelError when it is not one that the model takes; ComputeLostError when the thread
   *   ends
   */
  prepare(model: string, chunk: Chunk): Promise<Chunk> {
    if (!isPreparing(model)) return Promise.resolve(chunk)
    this.#next = (this.#next + 1) % this.#threads.length
    return this.#threads[this.#next]!.prepare(model, chunk)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()))
  }
}

/** One of them, started for its first chunk, and again after it ended. */
class PreparationThread {
  readonly #pending = new Map<number, PendingChunk>()
  #worker: Worker | null = null
  #calls = 0

  prepare(model: string, chunk: Chunk): Promise<Chunk> {
    const worker = (this.#worker ??= this.#start())
    const call = ++this.#calls
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject })
      const task: PreparationTask = { call, model, chunk }
      worker.postMessage(task, memoryOf(chunk))
    })
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(loaderOf(PROGRAM), { eval: true })
    worker.unref() // it must not keep the process
    worker.on('message', (reply: PreparationReply) => this.#settle(reply))
    let cause: unknown
    worker.on('error', (error) => (cause = error))
    worker.on('exit', () => this.#lose(cause))
    return worker
  }

  #settle(reply: PreparationReply): void {
    const pending = this.#pending.get(reply.call)
    this.#pending.delete(reply.call)
    if ('error' in reply) pending?.reject(new ModelError(reply.error))
    else pending?.resolve(reply.chunk)
  }

  #lose(cause: unknown): void {
    this.#worker = null
    const error = new ComputeLostError('a thread that prepares chunks ended', { cause })
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

const PROGRAM = new URL('./preparation-worker.ts', import.meta.url)

/** The memory of a chunk, to be transferred: channels may share one. */
export const memoryOf = ({ channels }: Chunk): ArrayBuffer[] => [
  ...new Set(channels.map(({ buffer }) => buffer as ArrayBuffer)),
]
