/**
 * Slows down anyone who guesses ADMIN_TOKEN. Wrong tokens are counted only in this process, because
 * strangers must not be able to cause database writes. So each gateway has its own count, which
 * starts at zero when it restarts.
 */

import type { Clock } from '../../shared/clock.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'

/** Wrong tokens allowed per minute. Beyond that, no token is checked until the minute is over. */
export const WRONG_MAX = { fromAnAddress: 30, altogether: 300 } as const

export class WrongTokens {
  readonly #clock: Clock
  /** Bounded, because no more tokens than `WRONG_MAX.altogether` are checked per minute. */
  readonly #byAddress = new Map<string, number>()
  #altogether = 0
  /** When the minute ends that the first wrong token began, by `clock.elapsed`. */
  #endsAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws ServiceError `RATE_LIMITED` if there were too many, from this address or altogether */
  assertFew(address: string): void {
    const msLeft = this.#endsAt - this.#clock.elapsed()
    const isFew =
      this.#altogether < WRONG_MAX.altogether &&
      (this.#byAddress.get(address) ?? 0) < WRONG_MAX.fromAnAddress
    if (isFew || msLeft <= 0) return
    const retryAfterSeconds = Math.ceil(msLeft / 1_000)
    const wrong = 'wrong admin tokens or sign-ins'
    throw new ServiceError('RATE_LIMITED', {
      message: `There were too many ${wrong}; retry in ${retryAfterSeconds} seconds.`,
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
