/** A JetStream work-queue stream in memory, with the leases of its consumers. */

import type { Choices } from './choices.ts'
import type { ScheduledEvent, Scheduler } from './scheduler.ts'

const DUPLICATE_WINDOW_MS = 120_000

export interface Message<T> {
  readonly sequence: number
  readonly body: T
  /** The consumer that receives it. */
  readonly queue: string
  deliveries: number
  /** Whether it has been delivered and is neither acknowledged nor released yet. */
  isPending: boolean
  timer: ScheduledEvent | undefined
}

interface StreamOptions<T> {
  name: string
  ackWaitMs: number
  deliveriesMax: number
  scheduler: Scheduler
  choices: Choices
  /** Called when a message may be delivered; delivers what it can by calling `take`. */
  onReady: (queue: string) => void
  /** Called with a message that has used up its deliveries and been removed. */
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

  /** Stores a message, unless its id is a duplicate; returns its sequence. */
  add(body: T, id: string, queue: string): number {
    const { scheduler, choices, name } = this.#options
    const duplicate = this.#known.get(id)
    if (duplicate && scheduler.now - duplicate.at < DUPLICATE_WINDOW_MS) return duplicate.sequence
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

  /** Returns a queue's next message, usually the oldest, or undefined if there is none. */
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

  /** Extends a lease. Like JetStream, it looks only at the sequence, not at who holds the lease. */
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

  /** Wipes the disk: no message is left, and sequences restart. */
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
