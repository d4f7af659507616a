/** A work-queue stream as JetStream has it, with its consumers' leases, in memory. */

import type { Choices } from './choices.ts'
import type { ScheduledEvent, Scheduler } from './scheduler.ts'

const DUPLICATE_WINDOW_MS = 120_000

export interface Message<T> {
  readonly sequence: number
  readonly body: T
  /** Which consumer it is for. */
  readonly queue: string
  deliveries: number
  /** Delivered, and not yet acknowledged or returned. */
  isPending: boolean
  timer: ScheduledEvent | undefined
}

interface StreamOptions<T> {
  name: string
  ackWaitMs: number
  deliveriesMax: number
  scheduler: Scheduler
  choices: Choices
  /** Called when a message may be delivered; delivers what it can by `take`. */
  onReady: (queue: string) => void
  /** Called with a message that used up its deliveries, which is removed. */
  onExhausted: (message: Message<T>) => void
}

export class BrokerStream<T> {
  readonly #options: StreamOptions<T>
  #messages = new Map<number, Message<T>>()
  #known = new Map<string, { sequence: number; at: number }>()
  #last = 0

  constructor(options: StreamOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#messages.size
  }

  get(sequence: number): Message<T> | undefined {
    return this.#messages.get(sequence)
  }

  all(): Message<T>[] {
    return [...this.#messages.values()]
  }

  /** Stores a message, unless its id is known; returns its sequence. */
  add(body: T, id: string, queue: string): number {
    const { scheduler, choices, name } = this.#options
    const known = this.#known.get(id)
    if (known && scheduler.now - known.at < DUPLICATE_WINDOW_MS) return known.sequence
    const sequence = (this.#last += 1)
    this.#known.set(id, { sequence, at: scheduler.now })
    if (choices.fault(name, ['stored and lost'])) return sequence
    const message = { sequence, body, queue, deliveries: 0, isPending: false, timer: undefined }
    this.#messages.set(sequence, message)
    this.#options.onReady(queue)
    return sequence
  }

  remove(sequence: number): boolean {
    const message = this.#messages.get(sequence)
    if (message?.timer) message.timer.canceled = true
    return this.#messages.delete(sequence)
  }

  /** The next message of a queue, mostly the oldest; undefined: there is none. */
  take(queue: string): Message<T> | undefined {
    const { choices, name } = this.#options
    const ready = this.all().filter((message) => message.queue === queue && isReady(message))
    if (ready.length === 0) return undefined
    const isReordered = ready.length > 1 && choices.fault(name, ['reordered'])
    const message = isReordered ? choices.pick(`${name} order`, ready) : ready[0]!
    message.deliveries += 1
    message.isPending = true
    this.#awaitAck(message)
    if (choices.fault(name, ['delivered twice'])) this.giveBack(message.sequence, 0)
    return message
  }

  /** The message is in flight. JetStream goes by the sequence alone. */
  working(sequence: number): void {
    const message = this.#messages.get(sequence)
    if (message?.isPending) this.#awaitAck(message)
  }

  /** Delivers a message again after `delayMs`. */
  giveBack(sequence: number, delayMs: number): void {
    const message = this.#messages.get(sequence)
    if (!message?.isPending) return
    this.#wake(message, delayMs)
  }

  /** The disk is wiped: no message is left, and sequences restart. */
  lose(): void {
    for (const { timer } of this.#messages.values()) if (timer) timer.canceled = true
    this.#messages = new Map()
    this.#known = new Map()
    this.#last = 0
  }

  #awaitAck(message: Message<T>): void {
    this.#wake(message, this.#options.ackWaitMs)
  }

  #wake(message: Message<T>, ms: number): void {
    const { scheduler, deliveriesMax, onExhausted, onReady, name } = this.#options
    if (message.timer) message.timer.canceled = true
    const label = `${name} ${message.sequence} again`
    message.timer = scheduler.schedule(scheduler.world, ms, label, () => {
      message.isPending = false
      if (message.deliveries >= deliveriesMax) {
        this.remove(message.sequence)
        onExhausted(message)
      } else onReady(message.queue)
    })
  }
}

const isReady = ({ isPending }: { isPending: boolean }): boolean => !isPending
