/**
 * Runs compute-worker.ts for some models: sends commands, awaits results, and restarts the worker
 * if it ends. Whether that is a thread or a process is up to compute-thread.ts and
 * compute-process.ts.
 */

import type { EventEmitter } from 'node:events'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { HeadResult } from '../../models/model.ts'
import type { ModelChoice } from '../../models/model-choice.ts'
import { ComputeLostError, computeErrorOf } from './compute-errors.ts'
import type {
  ChunkOrder,
  Command,
  DeviceState,
  FromWorker,
  LaneHandle,
  Ready,
  Replies,
  ToWorker,
  WorkerOptions,
} from './compute-messages.ts'
import { memoryOf } from '../threads/task-thread.ts'
import { ComputeWatchdog } from './compute-watchdog.ts'

export interface ComputeOptions extends WorkerOptions {
  /** How long a command, or the start, may take, in seconds. */
  computeSecondsMax: number
}

/** A worker thread or a child process. */
export interface WorkerHandle {
  /** Emits `message`, `error` and `exit`, as threads and processes both do. */
  events: EventEmitter
  /** @param transfer buffers of the message that need not be copied */
  post(message: ToWorker, transfer: ArrayBuffer[]): void
}

interface PendingCall {
  resolve(value: never): void
  reject(error: Error): void
}

export abstract class Compute {
  protected readonly log: Logger
  /** For example `the compute thread`. */
  protected readonly what: string
  #options: ComputeOptions
  readonly #watchdog: ComputeWatchdog
  /** Open calls in order; the first one is being worked on. */
  readonly #pending = new Map<number, PendingCall>()
  #running: WorkerHandle | null = null
  #calls = 0
  #isStopped = false
  #restarting: Promise<void> | null = null
  /** Set once it has started. */
  ready!: Ready
  /** The state after the latest call. */
  held: DeviceState = { graphs: 0, memoryBytes: 0, memoryPeakBytes: 0, residentBytes: 0 }
  /** Time spent on commands. */
  busySeconds = 0

  protected constructor(options: ComputeOptions, log: Logger, what: string) {
    this.#options = options
    this.log = log
    this.what = what
    const { computeSecondsMax } = options
    this.#watchdog = new ComputeWatchdog(computeSecondsMax, () =>
      this.onHang(`${what} hung for ${computeSecondsMax} s`),
    )
  }

  /** Resolves when it has restarted or been given up; null while it runs. */
  get restarting(): Promise<void> | null {
    return this.#restarting
  }

  /**
   * Returns the order with its chunk prepared as the model needs it; the chunk's memory is
   * transferred.
   */
  abstract prepare(order: ChunkOrder): Promise<ChunkOrder>

  /** Opens the lanes of a prepared chunk, whose memory is transferred. */
  open(order: ChunkOrder): Promise<LaneHandle[]> {
    return this.#call({ type: 'open', ...order }, memoryOf(order.request.chunk.channels))
  }

  /** Steps lanes of one model in one batch. */
  async step(lanes: readonly number[]): Promise<void> {
    await this.#call({ type: 'step', lanes })
  }

  close(lane: number): Promise<HeadResult[]> {
    return this.#call({ type: 'close', lane })
  }

  async discard(lane: number): Promise<void> {
    await this.#call({ type: 'discard', lane })
  }

  /**
   * Loads a model in addition to the others, now and after each restart.
   * @throws Error if there is no memory for it; whatever its loader throws
   */
  async load(choice: ModelChoice): Promise<void> {
    const { models } = await this.#call({ type: 'load', choice })
    this.ready = { ...this.ready, models }
    this.#options = { ...this.#options, models: [...this.#options.models, choice] }
  }

  /**
   * Resolves once the worker has answered, or at once while it restarts, because a restart has a
   * time limit of its own.
   */
  async beat(): Promise<void> {
    if (!this.#restarting) await this.#call({ type: 'beat' })
  }

  /** Ends the worker for good. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#watchdog.end()
    await this.terminate()
  }

  protected abstract launch(options: WorkerOptions): WorkerHandle

  /** Called when a command, or the start, takes too long. */
  protected abstract onHang(reason: string): void

  /** Called when the worker has ended; restarts it with `start`. */
  protected abstract restart(): Promise<void>

  /** Ends what `launch` started. */
  protected abstract terminate(): Promise<void>

  protected answered(): void {}

  protected get isStopped(): boolean {
    return this.#isStopped
  }

  /** @throws whatever a model's loader throws */
  protected async start(): Promise<void> {
    this.#watchdog.begin()
    const running = this.launch(this.#options)
    const { events } = running
    const { ready, held } = await untilReady(events, this.what).finally(() => this.#watchdog.end())
    this.ready = ready
    this.held = held
    this.#running = running
    events.on('message', (message: FromWorker) => this.#settle(message))
    events.on('error', (error) => this.log.error({ err: error }, `${this.what} failed`))
    events.on('exit', () => this.#ended())
  }

  #ended(): void {
    this.#running = null
    this.#watchdog.end()
    for (const { reject } of this.#pending.values()) {
      reject(new ComputeLostError(`${this.what} ended`))
    }
    this.#pending.clear()
    if (this.#isStopped) return
    this.log.error(`${this.what} ended: restarting it`)
    this.#restarting = this.restart().finally(() => {
      this.#restarting = null
    })
  }

  #call<T extends Command>(command: T, transfer: ArrayBuffer[] = []): Promise<Replies[T['type']]> {
    const running = this.#running
    if (!running) return Promise.reject(new ComputeLostError(`${this.what} does not run`))
    const call = ++this.#calls
    return new Promise((resolve, reject) => {
      running.post({ call, ...command }, transfer) // if this throws, nothing is to be awaited
      if (this.#pending.size === 0) this.#watchdog.begin()
      this.#pending.set(call, { resolve, reject })
    })
  }

  #settle(message: FromWorker): void {
    if ('ready' in message) return
    if ('line' in message) return this.log[message.level](message.line)
    if ('failed' in message) return this.log.error(`${this.what} failed: ${message.failed}`)
    this.busySeconds += message.seconds
    this.held = message.held
    const pending = this.#pending.get(message.call)
    this.#pending.delete(message.call)
    if (this.#pending.size > 0) this.#watchdog.begin()
    else this.#watchdog.end()
    if ('error' in message) pending?.reject(computeErrorOf(message.error))
    else pending?.resolve(message.value as never)
    this.answered()
  }
}

/** Awaits the first message of the program, which says that it is ready, or why not. */
function untilReady(
  events: EventEmitter,
  what: string,
): Promise<Extract<FromWorker, { ready: Ready }>> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null, signal?: string) =>
      reject(new Error(`${what} ended with ${signal ?? code}`))
    events.once('error', reject)
    events.once('exit', ended)
    events.once('message', (message: FromWorker) => {
      events.off('error', reject)
      events.off('exit', ended)
      if ('ready' in message) resolve(message)
      else if ('failed' in message) reject(new Error(message.failed))
    })
  })
}
