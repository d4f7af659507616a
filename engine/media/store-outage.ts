/**
 * Detects an outage of the media store. While it lasts, no job is leased, because none could be
 * served.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../shared/durations.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { isTemporaryStatus, request } from '../../shared/http/http-request.ts'

interface StoreOutageOptions {
  log: Logger
  /** Waits for `ms`, or until the signal fires. */
  wait?: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** How long to wait between probes; doubles each time. */
const PAUSE_MS = { least: 1_000, most: MINUTE_MS }
const PROBE_MS_MAX = 10_000

export class StoreOutage {
  readonly #log: Logger
  readonly #wait: NonNullable<StoreOutageOptions['wait']>
  /** Before the next probe. Only a successful transfer resets it. */
  #nextPauseMs = PAUSE_MS.least
  #current: Promise<void> | null = null
  #end: () => void = () => undefined
  /** Origin of the last failed transfer. */
  #origin: string | null = null

  constructor({ log, wait = waitAtMost }: StoreOutageOptions) {
    this.#log = log
    this.#wait = wait
  }

  /** Resolves when the store is reachable again; null while it is. */
  get current(): Promise<void> | null {
    return this.#current
  }

  /** Reports that a transfer from or to `url` failed for a transient reason. */
  reportFailure(url: string): void {
    const { origin } = new URL(url)
    this.#origin = origin
    if (this.#current) return
    this.#log.warn({ store: origin }, 'the media store is away: leasing no job until it is back')
    this.#current = this.#untilThere(origin).then(() => {
      this.#current = null
      this.#log.info({ store: origin }, 'the media store is back')
    })
  }

  /** Probes the store of the last failed transfer. */
  async isAway(): Promise<boolean> {
    return this.#origin !== null && !(await isReachable(this.#origin))
  }

  /** Reports that a transfer succeeded. */
  reportSuccess(): void {
    this.#nextPauseMs = PAUSE_MS.least
    this.#end()
  }

  async #untilThere(origin: string): Promise<void> {
    const over = new AbortController()
    this.#end = () => over.abort()
    do {
      const pauseMs = this.#nextPauseMs
      this.#nextPauseMs = Math.min(pauseMs * 2, PAUSE_MS.most)
      await this.#wait(pauseMs, over.signal)
    } while (!over.signal.aborted && !(await isReachable(origin)))
  }
}

const waitAtMost = (ms: number, signal: AbortSignal) =>
  sleep(ms, undefined, { signal }).catch(() => undefined)

/**
 * Whether there is any response except "not now". A proxy may respond even if the store behind it
 * is down.
 */
async function isReachable(url: string): Promise<boolean> {
  const waits = {
    connectMsMax: PROBE_MS_MAX,
    firstByteMsMax: PROBE_MS_MAX,
    silenceMsMax: PROBE_MS_MAX,
  }
  try {
    const { statusCode, body } = await request(new URL(url), {
      waits,
      signal: AbortSignal.timeout(2 * PROBE_MS_MAX),
    })
    body.on('error', () => undefined).destroy()
    return !isTemporaryStatus(statusCode)
  } catch {
    return false
  }
}
