/**
 * Simulated processes and time: a queue of events, each of which belongs to a process. Between two
 * events all promises settle that can. An event's process owns all that it starts, timers too; they
 * are dropped with it.
 */

import { mix } from './choices.ts'

const realSetImmediate = setImmediate

/** A program that can die at any moment, unless it is outside of what is tested. */
export class Process {
  readonly name: string
  readonly isMortal: boolean
  #alive = true
  readonly #mourners = new Set<() => void>()

  constructor(name: string, isMortal = true) {
    this.name = name
    this.isMortal = isMortal
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Nothing of it runs again. */
  kill(): void {
    if (!this.#alive) return
    this.#alive = false
    for (const mourn of [...this.#mourners]) mourn()
    this.#mourners.clear()
  }

  /** @returns takes it back */
  onDeath(mourn: () => void): () => void {
    this.#mourners.add(mourn)
    return () => this.#mourners.delete(mourn)
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

/** A promise that never settles: what a dead process waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined)

export class Scheduler {
  /** Milliseconds since the start, by a clock that never jumps. */
  now = 0
  /** Events so far. */
  steps = 0
  /** The world itself: what happens outside of all processes. */
  readonly world = new Process('world', false)
  /** The first invariant that did not hold. */
  violation: Error | undefined
  /** Whose event is running. */
  current: Process = this.world
  readonly #seed: number
  readonly #heap: ScheduledEvent[] = []
  #scheduled = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** Runs `run` as an event of `owner`, if it lives still. Equal times come in any order. */
  schedule(owner: Process, delayMs: number, label: string, run: () => void): ScheduledEvent {
    this.#scheduled += 1
    const order = mix(this.#seed, this.#scheduled)
    const at = this.now + Math.max(0, delayMs)
    const event = { at, order, owner, label, run, canceled: false }
    this.#push(event)
    return event
  }

  report(violation: Error): void {
    this.violation ??= violation
  }

  /** Resolves, in an event of `owner`, after `delayMs`. */
  delay(owner: Process, delayMs: number, label: string): Promise<void> {
    return new Promise((resolve) => this.schedule(owner, delayMs, label, resolve))
  }

  /** When the next event is; undefined: there is none. */
  nextAt(): number | undefined {
    return this.#first()?.at
  }

  /** Runs the next event, and lets all promises settle; undefined when there is none. */
  async step(): Promise<ScheduledEvent | undefined> {
    const event = this.#first()
    if (!event) return undefined
    this.#pop()
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
      const first = this.#heap[0]
      if (!first || !(first.canceled || !first.owner.alive)) return first
      this.#pop()
    }
  }

  #push(event: ScheduledEvent): void {
    const heap = this.#heap
    let i = heap.push(event) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!isBefore(event, heap[parent]!)) break
      heap[i] = heap[parent]!
      i = parent
    }
    heap[i] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, last)) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = last
  }
}

const isBefore = (a: ScheduledEvent, b: ScheduledEvent): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order)
