/** Restarts a process whenever it ends, and reports each end that nobody asked for. */

import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Pause before a process that ended is restarted. */
const RESTART_MS = 100

export interface RunningProcess {
  pid: number
  /** Rejects when the process ends before it is ready. */
  ready: Promise<unknown>
  /** Resolves with the exit code, or with the signal that ended it. */
  ended: Promise<number | string>
  log(): string
}

export type State = 'starting' | 'up' | 'frozen' | 'ending' | 'gone'

interface SupervisedOptions {
  name: string
  start(): Promise<RunningProcess>
  /** Called when the process ended unasked; returns whether that was allowed. */
  mayEnd(code: number | string): boolean
  onDeath(death: string): void
}

export class SupervisedProcess {
  readonly name: string
  readonly #options: SupervisedOptions
  readonly #changes = new EventEmitter<{ state: [] }>().setMaxListeners(0)
  #state: State = 'starting'
  #running: RunningProcess | null = null
  #log: () => string = () => ''
  #mayStart: Promise<void> = Promise.resolve()
  #isOver = false
  #turning: Promise<void> = Promise.resolve()

  constructor(options: SupervisedOptions) {
    this.#options = options
    this.name = options.name
  }

  get state(): State {
    return this.#state
  }

  get pid(): number | undefined {
    return this.#running?.pid
  }

  /** Output of the current process, or else of the last one. */
  log(): string {
    return this.#log()
  }

  /** Starts the process, and restarts it whenever it ends. */
  start(): void {
    this.#turning = this.#run()
  }

  async untilUp(): Promise<void> {
    while (this.#state !== 'up') await once(this.#changes, 'state')
  }

  /** Calls `act` as soon as the process is up, so that two faults never act on it at once. */
  async whenUp<T>(act: () => Promise<T>): Promise<T> {
    while (this.#state !== 'up') await once(this.#changes, 'state')
    return act()
  }

  /** Sends the signal; the process restarts after `meanwhile`. Resolves with its exit code. */
  async end(signal: NodeJS.Signals, meanwhile?: () => Promise<void>): Promise<number | string> {
    const running = this.#running
    if (!running) return 'not running'
    let allow: () => void = () => undefined
    this.#mayStart = new Promise((resolve) => (allow = resolve))
    this.#become('ending')
    this.#signal(signal)
    const code = await running.ended
    try {
      await meanwhile?.()
    } finally {
      allow()
    }
    return code
  }

  freeze(): void {
    this.#become('frozen')
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
    if (this.#state === 'frozen') this.#become('up')
  }

  /** Kills the process for good. */
  async stop(): Promise<void> {
    this.#isOver = true
    this.#signal('SIGKILL')
    await this.#turning
  }

  async #run(): Promise<void> {
    const { start, mayEnd, onDeath, name } = this.#options
    while (!this.#isOver) {
      this.#become('starting')
      const running = await start()
      this.#running = running
      this.#log = running.log
      running.ready.then(
        () => this.#state === 'starting' && this.#become('up'),
        () => undefined, // it has exited
      )
      if (this.#isOver) this.#signal('SIGKILL')
      const code = await running.ended
      this.#running = null
      const isAsked = this.#isOver || this.#state === 'ending'
      if (!isAsked && !mayEnd(code)) onDeath(`${name} ended with ${code}`)
      this.#become('gone')
      await this.#mayStart
      if (!this.#isOver) await sleep(RESTART_MS)
    }
  }

  #become(state: State): void {
    this.#state = state
    this.#changes.emit('state')
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this
    if (pid === undefined) return
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
