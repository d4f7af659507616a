/**
 * Simulates processes and time with a queue of events, each of which belongs to a process. Between two
 * events, all promises that can settle do. A process owns everything that its events start, including
 * timers, and all of it is dropped when the process dies.
 */

import { mix } from './choices.ts'

const realSetImmediate = setImmediate

/** A process that can die at any moment, unless it is not part of what is tested. */
export class Process {
  readonly name: string
  readonly isMortal: boolean
  #alive = true
  readonly #deathCallbacks = new Set<() => void>()

  constructor(name: string, isMortal = true) {
    this.name = name
    this.isMortal = isMortal
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Ends the process: none of its events runs any more. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    for (const callback of [...this.#deathCallbacks]) callback()
    this.#deathCallbacks.clear()
  }

  /** @returns a function that unregisters `mourn` */
  onDeath(callback: () => void): () => void {
    this.#deathCallbacks.add(callback)
    return () => this.#deathCallbacks.delete(callback)
  }
}

export interface ScheduledEvent {
  readonly at: number
  readonly order: number
  readonly owner: Process
  readonly label: string
  readonly run: () => void
  canceled: boolean
}

/** Returns a promise that never settles, as a dead process waits for it. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined)

export class Scheduler {
  /** Milliseconds since the start, on a clock that never jumps. */
  now = 0
  /** Number of events so far. */
  steps = 0
  /** Owns what happens outside all processes. */
  readonly world = new Process('world', false)
  /** The first invariant that was violated. */
  violation: Error | undefined
  /** The process whose event is running. */
  current: Process = this.world
  readonly #seed: number
  /** Sorted so that the next one is the last. */
  readonly #events: ScheduledEvent[] = []
  #scheduled = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** Calls `run` as an event of `owner`, if that is still alive. Events at equal times run in any order. */
  schedule(owner: Process, delayMs: number, label: string, run: () => void): ScheduledEvent {
    this.#scheduled += 1
    const order = mix(this.#seed, this.#scheduled)
    const at = this.now + Math.max(0, delayMs)
    const event = { at, order, owner, label, run, canceled: false }
    let i = this.#events.length
    while (i > 0 && isBefore(this.#events[i - 1]!, event)) i -= 1
    this.#events.splice(i, 0, event)
    return event
  }

  report(violation: Error): void {
    this.violation ??= violation
  }

  /** Resolves after `delayMs`, in an event of `owner`. */
  delay(owner: Process, delayMs: number, label: string): Promise<void> {
    return new Promise((resolve) => this.schedule(owner, delayMs, label, resolve))
  }

  /** Runs the next event and lets all promises settle; resolves with undefined if there is none. */
  async step(): Promise<ScheduledEvent | undefined> {
    const event = this.#first()
    if (!event) return undefined
    this.#events.pop()
    this.steps += 1
    this.now = event.at
    this.current = event.owner
    event.run()
    await new Promise<void>((resolve) => realSetImmediate(resolve))
    this.current = this.world
    return event
  }

  #first(): ScheduledEvent | undefined {
    for (;;) {
      const first = this.#events.at(-1)
      if (!first || !(first.canceled || !first.owner.alive)) return first
      this.#events.pop()
    }
  }
}

const isBefore = (a: ScheduledEvent, b: ScheduledEvent): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order)
