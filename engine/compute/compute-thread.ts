/**
 * The engine's compute thread. There is only one, because TensorFlow's binding has one state per
 * process.
 */

import { Worker } from 'node:worker_threads'
import { threadProgram } from '../../shared/process/programs.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { ChunkOrder, WorkerOptions } from './compute-messages.ts'
import { killHungProcess } from './compute-watchdog.ts'
import { Compute, type ComputeOptions, type WorkerHandle } from './compute.ts'
import { Preparation } from './preparation.ts'

const WORKER_URL = new URL('./compute-worker.ts', import.meta.url)
/** How long the thread may take to end: it first completes its step and what XLA is compiling. */
const STOP_MS_MAX = 25_000

export class ComputeThread extends Compute {
  readonly #program: URL
  readonly #preparation = new Preparation()
  #worker: Worker | null = null

  /**
   * Resolves when the models are loaded and warm. Kills this process if the start or a later
   * command takes longer than `computeSecondsMax`.
   * @param program to run in the thread
   * @throws whatever a model's loader throws
   */
  static async start(
    options: ComputeOptions,
    log: Logger,
    program = WORKER_URL,
  ): Promise<ComputeThread> {
    const thread = new ComputeThread(options, log, program)
    await thread.start()
    return thread
  }

  private constructor(options: ComputeOptions, log: Logger, program: URL) {
    super(options, log, 'the compute thread')
    this.#program = program
  }

  async prepare(order: ChunkOrder): Promise<ChunkOrder> {
    const chunk = await this.#preparation.prepare(order.model, order.request.chunk)
    return { ...order, request: { ...order.request, chunk } }
  }

  protected launch(workerData: WorkerOptions): WorkerHandle {
    const worker = new Worker(threadProgram(this.#program), { eval: true, workerData })
    this.#worker = worker
    return { events: worker, post: (message, transfer) => worker.postMessage(message, transfer) }
  }

  protected onHang(reason: string): void {
    killHungProcess(this.log, reason)
  }

  protected async restart(): Promise<void> {
    try {
      await this.start()
    } catch (error) {
      // Without its compute the engine is useless. The supervisor restarts the process.
      this.log.fatal({ err: error }, 'the compute thread could not be restarted')
      process.exit(1)
    }
  }

  /** Kills this process as well (SIGKILL) if the thread hangs in native code. */
  protected async terminate(): Promise<void> {
    const hung = setTimeout(
      () => killHungProcess(this.log, 'the compute thread could not be stopped'),
      STOP_MS_MAX,
    )
    await Promise.all([this.#worker?.terminate(), this.#preparation.stop()])
    clearTimeout(hung)
  }
}
