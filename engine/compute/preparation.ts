/**
 * Threads that prepare chunks for models that want it (models/prepare-chunk.ts). This relieves the
 * compute thread, which the device has to wait for.
 */

import { availableParallelism } from 'node:os'
import type { Chunk } from '../../models/model.ts'
import { isPreparing } from '../../models/prepare-chunk.ts'
import { memoryOf, ThreadLostError } from '../threads/task-thread.ts'
import { TaskThreads } from '../threads/task-threads.ts'
import { ComputeLostError, ModelError } from './compute-errors.ts'

export interface PreparationTask {
  model: string
  chunk: Chunk
}

const PROGRAM = new URL('./preparation-worker.ts', import.meta.url)

export class Preparation {
  readonly #threads: TaskThreads<PreparationTask>

  constructor(cores = availableParallelism()) {
    this.#threads = new TaskThreads(PROGRAM, cores)
  }

  /**
   * Returns the chunk as its model needs it; its memory is transferred.
   * @throws ModelError if the model cannot take the chunk; ComputeLostError if the thread ends
   */
  async prepare(model: string, chunk: Chunk): Promise<Chunk> {
    if (!isPreparing(model)) return chunk
    try {
      return await this.#threads.next().call({ model, chunk }, memoryOf(chunk.channels))
    } catch (error) {
      const { message } = error as Error
      if (!(error instanceof ThreadLostError)) throw new ModelError(message, { cause: error })
      throw new ComputeLostError('a thread that prepares chunks ended', { cause: error })
    }
  }

  stop(): Promise<void> {
    return this.#threads.stop()
  }
}
