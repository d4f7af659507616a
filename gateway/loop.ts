/** Work that a process repeats until it is told to stop: now and then, and whenever it is woken. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../shared/log.ts'

interface LoopOptions {
  name: string
  /** The longest rest between two turns. */
  everyMs: number
  /** One turn. When it throws, the next comes after the ordinary rest. */
  turn: () => Promise<void>
  log: Logger
}

export class Loop {
  readonly #options: LoopOptions
  readonly #stopping = new AbortController()
  #rest = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: LoopOptions) {
    this.#options = options
  }

  /** Takes the first turn at once, or after a rest of `restMs`. */
  start(restMs = 0): void {
    this.#running = this.#run(restMs)
  }

  /** Ends the rest; in the middle of a turn, another follows at once. */
  wake(): void {
    this.#rest.abort()
  }

  /** Resolves when the turn in hand has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#rest.abort()
    await this.#running
  }

  async #run(restMs: number): Promise<void> {
    const { name, everyMs, turn, log } = this.#options
    if (restMs > 0) await this.#sleep(restMs, this.#stopping.signal)
    while (!this.#stopping.signal.aborted) {
      this.#rest = new AbortController()
      const woken = this.#rest.signal
      const failed = await turn().then(() => false, (error: unknown) => {
        log.warn({ err: error, loop: name }, 'a turn failed; trying again')
        return true
      })
      // What failed is not tried again just because new work came: that would be a busy loop.
      const stopping = this.#stopping.signal
      await this.#sleep(everyMs, failed ? stopping : AbortSignal.any([woken, stopping]))
    }
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(ms, undefined, { signal }).catch(() => undefined)
  }
}
