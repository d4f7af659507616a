/**
 * Reports the start of an attempt and the measurements of its media, in a single event if the
 * measurements arrive soon.
 */

import type { Event } from '../../../shared/messages.ts'

type StartedEvent = Extract<Event, { type: 'started' }>
export type Measurements = Pick<Extract<Event, { type: 'measured' }>, 'duration' | 'output_bytes'>

/** How long the start waits for measurements; meanwhile clients see the request in the queue. */
const WAIT_MS_MAX = 100

type Publish = (event: StartedEvent) => Promise<void>

export class StartReport {
  readonly #event: StartedEvent
  readonly #publish: Publish
  readonly #timer: NodeJS.Timeout
  #stored: Promise<void> | undefined

  /** @param event created at the start of the attempt */
  constructor(event: StartedEvent, publish: Publish) {
    this.#event = event
    this.#publish = publish
    this.#timer = setTimeout(() => void this.stored(), WAIT_MS_MAX)
  }

  /** Whether nothing has been published yet, so that measurements can still be included. */
  get isWaiting(): boolean {
    return this.#stored === undefined
  }

  /** Resolves once the start is stored; the first call publishes it. */
  stored(measurements?: Measurements): Promise<void> {
    if (this.#stored) return this.#stored
    clearTimeout(this.#timer)
    this.#stored = this.#publish({ ...this.#event, ...measurements })
    this.#stored.catch(() => undefined) // the job awaits it later
    return this.#stored
  }
}
