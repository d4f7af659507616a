/** How often an API key may call, on this gateway: over HTTP and gRPC together. */

import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../shared/clock.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'

/** Keys that are counted; beyond it, those whose minute began first are dropped. */
const KEYS_MAX = 10_000

/** The rate limit of a key after a call. */
export interface Allowance {
  /** Calls allowed in a minute. */
  limit: number
  /** Calls left in this minute; below 0: this call exceeds the limit. */
  left: number
  /** Until the minute is over. */
  resetSeconds: number
}

interface Window {
  calls: number
  /** Epoch milliseconds. */
  endsAt: number
}

/** Counts the calls of each key, from its first one for a minute. */
export class RateLimiter {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()

  /** @param perMinute calls of one key in a minute; 0: no limit */
  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** Counts one call of a key; undefined where there is no limit. */
  count(keyId: string): Allowance | undefined {
    const limit = this.#perMinute
    if (limit === 0) return undefined
    const now = this.#clock.now()
    const window = this.#windowOf(keyId, now)
    window.calls += 1
    const resetSeconds = Math.ceil((window.endsAt - now) / 1_000)
    return { limit, left: limit - window.calls, resetSeconds }
  }

  #windowOf(keyId: string, now: number): Window {
    const known = this.#windows.get(keyId)
    if (known && now < known.endsAt) return known
    const window = { calls: 0, endsAt: now + MINUTE_MS }
    this.#windows.delete(keyId) // so that it becomes the newest
    this.#windows.set(keyId, window)
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > KEYS_MAX && oldest !== undefined) this.#windows.delete(oldest)
    return window
  }
}

/** @throws ServiceError `RATE_LIMITED` for a call beyond the limit */
export function assertAllowed(allowance: Allowance | undefined): void {
  if (!allowance || allowance.left >= 0) return
  const { limit, resetSeconds: retryAfterSeconds } = allowance
  const message = `This API key may call ${limit} times in a minute; try again in ${
    retryAfterSeconds
  } seconds.`
  throw new ServiceError('RATE_LIMITED', { message, retryAfterSeconds })
}

/** To be installed after the authenticator, and before the routes that it is to limit. */
export function installRateLimit(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook('onRequest', async (request, reply) => {
    const allowance = limiter.count(request.apiKey.key_id)
    if (!allowance) return
    const { limit, left, resetSeconds } = allowance
    reply
      .header('ratelimit-limit', limit)
      .header('ratelimit-remaining', Math.max(0, left))
      .header('ratelimit-reset', resetSeconds)
    assertAllowed(allowance)
  })
}
