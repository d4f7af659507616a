/** Limits how many requests may wait. */

import { ServiceError } from '../../shared/errors.ts'
import type { AppConfig } from '../deps.ts'
import type { Store } from '../store/database.ts'
import { countWaiting } from '../store/requests.ts'

/** Room appears as requests finish; the exact time is unknown. */
const RETRY_AFTER_SECONDS = 30

/**
 * Call it in the transaction that has put a request of the account in the queue.
 * @throws ServiceError `RATE_LIMITED` when more wait now than may
 */
export async function assertRoom(
  store: Store,
  accountId: string,
  { queueMax, queueMaxPerAccount }: AppConfig,
): Promise<void> {
  if ((await countWaiting(store, queueMax + 1)) > queueMax) {
    throw queueFull(`${queueMax} requests are waiting, and no more are taken now`)
  }
  if (queueMaxPerAccount === 0) return
  if ((await countWaiting(store, queueMaxPerAccount + 1, accountId)) > queueMaxPerAccount) {
    throw queueFull(`your account has ${queueMaxPerAccount} requests waiting, and may have no more`)
  }
}

const queueFull = (why: string) =>
  new ServiceError('RATE_LIMITED', {
    message: `The queue is full: ${why}. Nothing was stored; try again in ${
      RETRY_AFTER_SECONDS
    } seconds.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
