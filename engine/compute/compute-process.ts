/**
 * A process for one model whose steps take seconds on a CPU. Other models can compute
 * meanwhile, a hanging model can be killed alone, and its memory is free once the process has
 * ended.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { programArguments } from '../../shared/process/programs.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { HeadResult } from '../../models/model.ts'
import { withOwnMemory } from '../threads/own-memory.ts'
import { COLLECT_LESS_OFTEN } from '../garbage-collection.ts'
import type { ChunkOrder, WorkerOptions } from './compute-messages.ts'
import { Compute, type ComputeOptions, type WorkerHandle } from './compute.ts'

const PROGRAM = new URL('./process-main.ts', import.meta.url)

/** How long to wait before a restart, by how often in a row the process ended without answering. */
const PAUSES_MS = [0, 1_000, 5_000, 15_000, 60_000]
/** After this many failed starts in a row it is given up. */
const STARTS_MAX = 3

export class ComputeProcess extends Compute {
  readonly #onLost: (error: Error) => void
  readonly #program: URL
  #child: ChildProcess | null = null
  /** How often in a row it ended before it answered a command. */
  #ends = 0

  /**
   * Resolves when the models are loaded and warm.
   * @param onLost is called when the process has ended and cannot be restarted
   * @param program to run in the process
   * @throws whatever the model's loader throws
   */
  static async start(
    name: string,
    options: ComputeOptions,
    log: Logger,
    onLost: (error: Error) => void,
    program = PROGRAM,
  ): Promise<ComputeProcess> {
    const process = new ComputeProcess(name, options, log, onLost, program)
    await process.start()
    return process
  }

  private constructor(
    name: string,
    options: ComputeOptions,
    log: Logger,
    onLost: (error: Error) => void,
    program: URL,
  ) {
    super(options, log, `the process of ${name}`)
    this.#onLost = onLost
    this.#program = program
  }

  /** Undefined while it is not running. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** No model in such a process needs prepared chunks (models/prepare-chunk.ts). */
  async prepare(order: ChunkOrder): Promise<ChunkOrder> {
    return order
  }

  /** Copies the results, which share memory with the channel and with messages yet to be read. */
  override async close(lane: number): Promise<HeadResult[]> {
    return withOwnMemory(await super.close(lane))
  }

  protected launch(options: WorkerOptions): WorkerHandle {
    const args = programArguments(this.#program)
    const child = fork(args.at(-1)!, {
      execArgv: [COLLECT_LESS_OFTEN, ...args.slice(0, -1)],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child = child
    child.once('exit', () => (this.#child = null))
    // Sending fails once the process has ended, which `exit` reports.
    const send = (message: object) => child.send(message, () => {})
    send(options)
    return { events: child, post: send }
  }

  protected onHang(reason: string): void {
    this.log.error(`${reason}: killing it`)
    this.#child?.kill('SIGKILL')
  }

  protected override answered(): void {
    this.#ends = 0
  }

  protected async restart(): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      const pauseMs = PAUSES_MS[Math.min(this.#ends, PAUSES_MS.length - 1)]
      this.#ends += 1
      await sleep(pauseMs)
      if (this.isStopped) return
      try {
        return await this.start()
      } catch (error) {
        if (this.isStopped) return
        this.log.error({ err: error }, `${this.what} could not be restarted`)
        if (failures === STARTS_MAX) return this.#onLost(error as Error)
      }
    }
  }

  /** Kills the process, which has nothing to save. */
  protected async terminate(): Promise<void> {
    const child = this.#child
    if (!child) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
}
