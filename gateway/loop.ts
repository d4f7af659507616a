/** Repeats work until the process stops, at intervals and whenever it is woken. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../shared/telemetry/log.ts'

interface LoopOptions {
  name: string
  /** The longest pause between two turns. */
  everyMs: number
  /** Takes one turn. If it throws, the next one comes after the ordinary pause. */
  turn: () => Promise<void>
  log: Logger
}

export class Loop {
  readonly #options: LoopOptions
  #rest = new AbortController()
  #mayBeWoken = false
  #stopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** Takes the first turn at once, or after `delayMs`. */
  start(delayMs = 0): void {
    this.#running = this.#run(delayMs)
  }

  /** Ends the pause. During a turn, makes another follow at once. */
  wake(): void {
    if (this.#mayBeWoken) this.#rest.abort()
  }

  /** Stops. Resolves when the turn in progress has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#rest.abort()
    await this.#running
  }

  async #run(delayMs: number): Promise<void> {
    const { name, everyMs, turn, log } = this.#options
    if (delayMs > 0) await this.#pause(delayMs)
    while (!this.#stopped) {
      this.#rest = new AbortController()
      this.#mayBeWoken = true
      try {
        await turn()
      } catch (error) {
        log.warn({ err: error, loop: name }, 'a turn failed; retrying')
        // After a failed turn, new work does not wake the loop, which would otherwise spin.
        this.#rest = new AbortController()
        this.#mayBeWoken = false
      }
      await this.#pause(everyMs)
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopped) return
    await sleep(ms, undefined, { signal: this.#rest.signal }).catch(() => undefined)
  }
}
