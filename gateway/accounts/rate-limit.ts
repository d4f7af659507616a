/**
 * Limits how often a key may call, over HTTP and gRPC together, on all gateways that share a
 * database.
 */

import type { FastifyInstance } from 'fastify'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { limitOf, limitText, type Limit } from './limits.ts'
import { isPostgres, type Store } from '../store/database.ts'
import { countCall } from '../store/rate-windows.ts'
import type { KeyWithAccount } from '../store/api-keys.ts'

/**
 * At most this many keys are counted in memory; beyond that, the one whose minute began first is
 * dropped.
 */
const KEYS_MAX = 10_000
/** The clocks of gateways never differ by more than this, unless someone sets one. */
const CLOCKS_APART_MS = MINUTE_MS

/** The rate limit of a key after a call. */
export interface Allowance {
  /** Calls allowed in a minute. */
  limit: number
  /** Who has the limit. */
  of: Limit['of'] | 'key'
  /** Calls left in this minute; negative if this call exceeds the limit. */
  left: number
  /** Seconds until the minute is over. */
  resetSeconds: number
}

type OwnRates = Pick<KeyWithAccount, 'own_calls_per_minute' | 'max_calls_per_minute'>

interface Window {
  calls: number
  /** Epoch milliseconds if gateways count together, otherwise by `clock.elapsed`. */
  endsAt: number
}

interface RateLimiterOptions {
  /** Calls per minute for a key without a limit of its own; 0 means no limit. */
  perMinute: number
  clock: Clock
  store: Store
}

/**
 * Counts the calls of each key per minute; a minute begins with the key's first call. It counts in
 * the database if gateways share one, otherwise in memory, because each write to SQLite waits for
 * the disk.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  readonly #windows = new Map<string, Window>()

  constructor(options: RateLimiterOptions) {
    this.#options = options
  }

  /**
   * Counts one call of a key, or of anything else that has a name of its own. Returns undefined if
   * there is no limit.
   */
  async count(keyId: string, key: Partial<OwnRates> = {}): Promise<Allowance | undefined> {
    const { perMinute, clock, store } = this.#options
    const ofAccount = limitOf(key, 'calls_per_minute', perMinute)
    const own = key.own_calls_per_minute ?? null
    const { max: limit, of } = own === null ? ofAccount : ({ max: own, of: 'key' } as const)
    if (limit === Infinity) return undefined
    const isShared = isPostgres(store)
    const now = isShared ? clock.now() : clock.elapsed()
    const { calls, endsAt } = isShared
      ? await countTogether(store, keyId, now)
      : this.#countHere(keyId, now)
    return { limit, of, left: limit - calls, resetSeconds: Math.ceil((endsAt - now) / 1_000) }
  }

  #countHere(keyId: string, now: number): Window {
    const window = this.#windowOf(keyId, now)
    window.calls += 1
    return window
  }

  #windowOf(keyId: string, now: number): Window {
    const openWindow = this.#windows.get(keyId)
    if (openWindow && now < openWindow.endsAt) return openWindow
    const window = { calls: 0, endsAt: now + MINUTE_MS }
    this.#windows.delete(keyId) // so that it becomes the newest
    this.#windows.set(keyId, window)
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > KEYS_MAX && oldest !== undefined) this.#windows.delete(oldest)
    return window
  }
}

async function countTogether(store: Store, keyId: string, now: number): Promise<Window> {
  const times = {
    now: isoTime(now),
    endsAt: isoTime(now + MINUTE_MS),
    latest: isoTime(now + MINUTE_MS + CLOCKS_APART_MS),
  }
  const { calls, ends_at: endsAt } = await countCall(store, { keyId, ...times })
  return { calls, endsAt: Date.parse(endsAt) }
}

/** @throws ServiceError `RATE_LIMITED` for a call beyond the limit */
export function assertAllowed(allowance: Allowance | undefined, caller = 'This API key'): void {
  if (!allowance || allowance.left >= 0) return
  const { limit, of, left, resetSeconds: retryAfterSeconds } = allowance
  const message =
    `${caller} may call ${limit} times in a minute, and this is call ${limit - left}; retry in ` +
    `${retryAfterSeconds} seconds ${limitText({ name: 'calls_per_minute', of })}.`
  throw new ServiceError('RATE_LIMITED', { message, retryAfterSeconds })
}

/** Limits the routes that are added after it. Install it after the authenticator. */
export function installRateLimit(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook('onRequest', async (request, reply) => {
    const allowance = await limiter.count(request.apiKey.key_id, request.apiKey)
    if (!allowance) return
    const { limit, left, resetSeconds } = allowance
    reply
      .header('ratelimit-limit', limit)
      .header('ratelimit-remaining', Math.max(0, left))
      .header('ratelimit-reset', resetSeconds)
    assertAllowed(allowance)
  })
}
