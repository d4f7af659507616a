/** Our side of the compute thread: sends commands, awaits answers, starts it anew after a crash. */

import { Worker } from 'node:worker_threads'
import type { Logger } from '../shared/log.ts'
import type { LaneRequest, LaneResult } from '../models/model.ts'
import type {
  Command, FromWorker, OpenedLane, Ready, Replies, WorkerOptions,
} from './compute-messages.ts'

/** The thread died with this lane in it: nothing is wrong with the lane; open it again. */
export class ComputeLostError extends Error {
  override name = 'ComputeLostError'
}

/** The model refused or failed on what it was given. */
export class ModelError extends Error {
  override name = 'ModelError'
}

interface PendingCall {
  resolve(value: never): void
  reject(error: Error): void
}

export class ComputeThread {
  readonly #options: WorkerOptions
  readonly #log: Logger
  readonly #pending = new Map<number, PendingCall>()
  #worker: Worker | null = null
  #calls = 0
  #lanes = 0
  #stopped = false
  ready: Ready
  /** Time that the thread has spent on commands. */
  busySeconds = 0

  /** Resolves when the model is loaded and warm. @throws what the model's loader throws */
  static async start(options: WorkerOptions, log: Logger): Promise<ComputeThread> {
    const { worker, ready } = await startWorker(options)
    return new ComputeThread(options, log, worker, ready)
  }

  private constructor(options: WorkerOptions, log: Logger, worker: Worker, ready: Ready) {
    this.#options = options
    this.#log = log
    this.ready = ready
    this.#attach(worker)
  }

  /** Opens a lane; its chunk's memory is handed over. */
  async open(request: LaneRequest): Promise<OpenedLane & { lane: number }> {
    const lane = ++this.#lanes
    const memory = request.chunk.channels.map((channel) => channel.buffer as ArrayBuffer)
    const opened = await this.#call({ type: 'open', lane, request }, memory)
    return { lane, ...opened }
  }

  /** One batched evaluation of the lanes. */
  async step(lanes: readonly number[]): Promise<void> {
    await this.#call({ type: 'step', lanes })
  }

  close(lane: number): Promise<LaneResult> {
    return this.#call({ type: 'close', lane })
  }

  async discard(lane: number): Promise<void> {
    await this.#call({ type: 'discard', lane })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#worker?.terminate()
  }

  #call<T extends Command>(command: T, transfer: ArrayBuffer[] = []): Promise<Replies[T['type']]> {
    const worker = this.#worker
    if (!worker) return Promise.reject(new ComputeLostError('the compute thread is starting anew'))
    const call = ++this.#calls
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject })
      worker.postMessage({ call, ...command }, transfer)
    })
  }

  #attach(worker: Worker): void {
    this.#worker = worker
    worker.on('message', (message: FromWorker) => this.#settle(message))
    worker.on('error', (error) => this.#log.error({ err: error }, 'the compute thread failed'))
    worker.on('exit', () => void this.#restart())
  }

  #settle(message: FromWorker): void {
    if ('ready' in message) return
    this.busySeconds += message.seconds
    const pending = this.#pending.get(message.call)
    this.#pending.delete(message.call)
    if ('error' in message) pending?.reject(new ModelError(message.error))
    else pending?.resolve(message.value as never)
  }

  async #restart(): Promise<void> {
    this.#worker = null
    for (const { reject } of this.#pending.values()) {
      reject(new ComputeLostError('the compute thread ended'))
    }
    this.#pending.clear()
    if (this.#stopped) return
    this.#log.error('the compute thread ended: starting it anew')
    try {
      const { worker, ready } = await startWorker(this.#options)
      this.ready = ready
      this.#attach(worker)
    } catch (error) {
      // Without compute there is no engine: the process ends and whoever supervises it decides.
      this.#log.fatal({ err: error }, 'the compute thread could not be started anew')
      process.exit(1)
    }
  }
}

const WORKER_URL = new URL('./compute-worker.ts', import.meta.url)
/** On Node 20 a worker does not inherit the loader of TypeScript, so it registers one first. */
const WORKER_PROGRAM = `import('tsx/esm/api').then(({ register }) => {
  register()
  return import(${JSON.stringify(WORKER_URL.href)})
})`

function startWorker(options: WorkerOptions): Promise<{ worker: Worker; ready: Ready }> {
  const worker = new Worker(WORKER_PROGRAM, { eval: true, workerData: options })
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
