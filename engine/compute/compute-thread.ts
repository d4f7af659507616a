/**
 * The main thread's side of the compute thread: sends commands, awaits results, restarts it after a
 * crash.
 */

import { Worker } from 'node:worker_threads'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { HeadResult } from '../../models/model.ts'
import { ComputeLostError, computeErrorOf } from './compute-errors.ts'
import type {
  ChunkOrder,
  Command,
  DeviceState,
  FromWorker,
  OpenedLane,
  Ready,
  Replies,
  WorkerOptions,
} from './compute-messages.ts'
import { memoryOf } from '../threads/task-thread.ts'
import { threadProgram } from '../../shared/process/programs.ts'
import { ComputeWatchdog, killHungProcess } from './compute-watchdog.ts'
import { Preparation } from './preparation.ts'

export interface ComputeOptions extends WorkerOptions {
  /** The longest that one command, or the start of the thread, may take, in seconds. */
  computeSecondsMax: number
}

interface PendingCall {
  resolve(value: never): void
  reject(error: Error): void
}

export class ComputeThread {
  readonly #options: ComputeOptions
  readonly #log: Logger
  readonly #program: URL
  readonly #watchdog: ComputeWatchdog
  readonly #preparation = new Preparation()
  /** Open calls, in order: the thread works on the first. */
  readonly #pending = new Map<number, PendingCall>()
  #worker: Worker | null = null
  #calls = 0
  #stopped = false
  #restarting: Promise<void> | null = null
  /** Set once the thread has started. */
  ready!: Ready
  /** As it was after the latest call. */
  held: DeviceState = { graphs: 0, memoryBytes: 0, memoryPeakBytes: 0 }
  /** Time that the thread has spent on commands. */
  busySeconds = 0

  /**
   * Resolves when the model is loaded and warm. The process ends (SIGKILL) when the start, or later
   * a command, takes longer than `computeSecondsMax`.
   * @param program what the thread runs
   * @throws what the model's loader throws
   */
  static async start(
    options: ComputeOptions,
    log: Logger,
    program = WORKER_URL,
  ): Promise<ComputeThread> {
    const thread = new ComputeThread(options, log, program)
    await thread.#start()
    return thread
  }

  private constructor(options: ComputeOptions, log: Logger, program: URL) {
    this.#options = options
    this.#log = log
    this.#program = program
    this.#watchdog = new ComputeWatchdog(options.computeSecondsMax, () =>
      killHungProcess(log, `the compute thread hung for ${options.computeSecondsMax} s`),
    )
  }

  /** Resolves when a thread that ended has restarted; null while one runs. */
  get restarting(): Promise<void> | null {
    return this.#restarting
  }

  /** The order with its chunk as the model wants it; its memory is transferred. */
  async prepare(order: ChunkOrder): Promise<ChunkOrder> {
    const chunk = await this.#preparation.prepare(order.model, order.request.chunk)
    return { ...order, request: { ...order.request, chunk } }
  }

  /** Opens the lanes of a chunk that is prepared; its memory is transferred. */
  open(order: ChunkOrder): Promise<OpenedLane[]> {
    return this.#call({ type: 'open', ...order }, memoryOf(order.request.chunk.channels))
  }

  /** One batched evaluation of lanes of one model. */
  async step(lanes: readonly number[]): Promise<void> {
    await this.#call({ type: 'step', lanes })
  }

  /** The result of each head of the lane. */
  close(lane: number): Promise<HeadResult[]> {
    return this.#call({ type: 'close', lane })
  }

  async discard(lane: number): Promise<void> {
    await this.#call({ type: 'discard', lane })
  }

  /** Resolves once the thread has answered; at once while it restarts, which has a limit. */
  async beat(): Promise<void> {
    if (!this.#restarting) await this.#call({ type: 'beat' })
  }

  /** Ends the thread; the process with it (SIGKILL) where the thread hangs in native code. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#watchdog.end()
    const hung = setTimeout(
      () => killHungProcess(this.#log, 'the compute thread could not be stopped'),
      STOP_MS_MAX,
    )
    await Promise.all([this.#worker?.terminate(), this.#preparation.stop()])
    clearTimeout(hung)
  }

  #call<T extends Command>(command: T, transfer: ArrayBuffer[] = []): Promise<Replies[T['type']]> {
    const worker = this.#worker
    if (!worker) return Promise.reject(new ComputeLostError('the compute thread is restarting'))
    const call = ++this.#calls
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#watchdog.begin()
      this.#pending.set(call, { resolve, reject })
      worker.postMessage({ call, ...command }, transfer)
    })
  }

  async #start(): Promise<void> {
    this.#watchdog.begin()
    const { worker, ready } = await startWorker(this.#program, this.#options).finally(() =>
      this.#watchdog.end(),
    )
    this.ready = ready
    this.#worker = worker
    worker.on('message', (message: FromWorker) => this.#settle(message))
    worker.on('error', (error) => this.#log.error({ err: error }, 'the compute thread failed'))
    worker.on('exit', () => {
      this.#worker = null
      this.#restarting = this.#restart().finally(() => {
        this.#restarting = null
      })
    })
  }

  #settle(message: FromWorker): void {
    if ('ready' in message) return
    this.busySeconds += message.seconds
    this.held = message.held
    const pending = this.#pending.get(message.call)
    this.#pending.delete(message.call)
    if (this.#pending.size > 0) this.#watchdog.begin()
    else this.#watchdog.end()
    if ('error' in message) pending?.reject(computeErrorOf(message.error))
    else pending?.resolve(message.value as never)
  }

  async #restart(): Promise<void> {
    this.#watchdog.end()
    for (const { reject } of this.#pending.values()) {
      reject(new ComputeLostError('the compute thread ended'))
    }
    this.#pending.clear()
    if (this.#stopped) return
    this.#log.error('the compute thread ended: restarting it')
    try {
      await this.#start()
    } catch (error) {
      // Without compute the engine is useless: the process ends, and its supervisor restarts it.
      this.#log.fatal({ err: error }, 'the compute thread could not be restarted')
      process.exit(1)
    }
  }
}

const WORKER_URL = new URL('./compute-worker.ts', import.meta.url)
/** How long the thread may take to end: it first completes the step that it is in. */
const STOP_MS_MAX = 10_000

function startWorker(
  program: URL,
  options: WorkerOptions,
): Promise<{ worker: Worker; ready: Ready }> {
  const worker = new Worker(threadProgram(program), { eval: true, workerData: options })
  return new Promise((resolve, reject) => {
    const ended = (code: number) => reject(new Error(`the compute thread ended with ${code}`))
    worker.once('error', reject)
    worker.once('exit', ended)
    worker.once('message', ({ ready }: { ready: Ready }) => {
      worker.off('error', reject)
      worker.off('exit', ended)
      resolve({ worker, ready })
    })
  })
}
