/** Limits how many client addresses are checked at once during submits. */

import { withDeadline } from '../../../shared/deadline.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { FairShare } from '../../../shared/fair-share.ts'

export interface EgressUser {
  accountId: string
  /** Cancels the wait for a slot, and the work. */
  signal?: AbortSignal | undefined
}

/** By then an address that does not answer has freed its slot. */
const RETRY_AFTER_SECONDS = 30

/**
 * A pool of slots that accounts share as in fair-share.ts, so that no account ever takes them all.
 */
export class EgressPool {
  readonly #share: FairShare
  readonly #waitersMax: number
  readonly #waitMsMax: number
  /** Functions that start waiting work, by account, oldest first. */
  readonly #waiting = new Map<string, Set<() => void>>()

  /**
   * @param slots for concurrent checks of all accounts together
   * @param waitersMax how many checks of one account may wait
   * @param waitMsMax the longest wait for a slot
   */
  constructor({ slots = 64, waitersMax = 128, waitMsMax = 10_000 } = {}) {
    this.#share = new FairShare(slots)
    this.#waitersMax = waitersMax
    this.#waitMsMax = waitMsMax
  }

  /**
   * Runs `work` in a slot of its account.
   * @throws ServiceError `RATE_LIMITED` if too many checks of the account are waiting, or if this
   *   one has waited too long; the signal's reason; what `work` throws
   */
  async run<T>({ accountId, signal }: EgressUser, work: () => Promise<T>): Promise<T> {
    await withDeadline({ ms: this.#waitMsMax, timeoutError: tooMany, signal }, (deadline) =>
      this.#enter(accountId, deadline),
    )
    try {
      return await work()
    } finally {
      this.#share.release(accountId)
      this.#admit()
    }
  }

  /** Resolves when the account has taken a slot. */
  #enter(accountId: string, deadline: AbortSignal): Promise<void> {
    const waiters = this.#waiting.get(accountId) ?? new Set()
    if (waiters.size >= this.#waitersMax) throw tooMany()
    this.#waiting.set(accountId, waiters)
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiters.delete(begin)
        if (waiters.size === 0) this.#waiting.delete(accountId)
      }
      const giveUp = () => {
        leave()
        reject(deadline.reason as Error)
      }
      const begin = () => {
        leave()
        deadline.removeEventListener('abort', giveUp)
        this.#share.take(accountId)
        resolve()
      }
      deadline.addEventListener('abort', giveUp, { once: true })
      waiters.add(begin)
      this.#admit()
    })
  }

  #admit(): void {
    for (;;) {
      const account = this.#share.next(this.#waiting.keys())
      if (account === undefined) return
      const [begin] = this.#waiting.get(account) ?? []
      begin?.()
    }
  }
}

const tooMany = () =>
  new ServiceError('RATE_LIMITED', {
    message:
      'Too many submits are waiting for the servers of their addresses to answer. ' +
      `Nothing was stored; retry in ${RETRY_AFTER_SECONDS} seconds.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
