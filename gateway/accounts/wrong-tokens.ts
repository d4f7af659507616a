/**
 * Slows down anyone who guesses ADMIN_TOKEN. Wrong tokens are counted in this process alone,
 * because strangers must not cause database writes. So each gateway allows its own guesses, and a
 * restart begins anew.
 */

import type { Clock } from '../../shared/clock.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'

/** Wrong tokens per minute; beyond it, no token is checked until the minute is over. */
export const WRONG_MAX = { fromAnAddress: 30, altogether: 300 } as const

export class WrongTokens {
  readonly #clock: Clock
  /** Has at most as many addresses as wrong tokens are let through. */
  readonly #byAddress = new Map<string, number>()
  #altogether = 0
  /** The end of the minute that the first wrong token began; by `elapsed`. */
  #endsAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws ServiceError `RATE_LIMITED` when there were too many, from there or altogether */
  assertFew(address: string): void {
    const msLeft = this.#endsAt - this.#clock.elapsed()
    const isFew =
      this.#altogether < WRONG_MAX.altogether &&
      (this.#byAddress.get(address) ?? 0) < WRONG_MAX.fromAnAddress
    if (isFew || msLeft <= 0) return
    const retryAfterSeconds = Math.ceil(msLeft / 1_000)
    throw new ServiceError('RATE_LIMITED', {
      message: `There were too many wrong admin tokens; retry in ${retryAfterSeconds} seconds.`,
      retryAfterSeconds,
    })
  }

  note(address: string): void {
    const now = this.#clock.elapsed()
    if (now >= this.#endsAt) {
      this.#endsAt = now + MINUTE_MS
      this.#altogether = 0
      this.#byAddress.clear()
    }
    this.#altogether += 1
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1)
  }
}
