/**
 * Reports the start of an attempt and what its media measures: in one event where that is known
 * soon, and the gateway reads it there.
 */

import type { Event } from '../../../shared/messages.ts'

type StartedEvent = Extract<Event, { type: 'started' }>
export type Measurements = Pick<Extract<Event, { type: 'measured' }>, 'duration' | 'output_bytes'>

/** How long the start waits for measurements: clients see the request in the queue meanwhile. */
const WAIT_MS_MAX = 100

interface StartReportOptions {
  /** True if the start may wait for measurements; else it is published at once. */
  mayWait: boolean
  publish: (event: StartedEvent) => Promise<void>
}

export class StartReport {
  readonly #event: StartedEvent
  readonly #publish: StartReportOptions['publish']
  readonly #timer: NodeJS.Timeout | undefined
  #stored: Promise<void> | undefined

  /** @param event made when the attempt began */
  constructor(event: StartedEvent, { mayWait, publish }: StartReportOptions) {
    this.#event = event
    this.#publish = publish
    if (mayWait) this.#timer = setTimeout(() => void this.stored(), WAIT_MS_MAX)
    else void this.stored()
  }

  /** True if nothing is published yet, so that measurements may go with it. */
  get isWaiting(): boolean {
    return this.#stored === undefined
  }

  /** Resolves once the start is stored, which the first call publishes. */
  stored(measurements?: Measurements): Promise<void> {
    if (this.#stored) return this.#stored
    clearTimeout(this.#timer)
    this.#stored = this.#publish({ ...this.#event, ...measurements })
    this.#stored.catch(() => undefined) // the job awaits it later
    return this.#stored
  }
}
