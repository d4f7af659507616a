/** Limits how many requests may wait. */

import { ServiceError } from '../../shared/errors.ts'
import type { AppConfig } from '../deps.ts'
import { isPostgres, oneAtATime, type Store } from '../store/database.ts'
import { countWaiting } from '../store/requests.ts'

/** So near to a limit submits are counted one at a time: more are never under way at once. */
const MARGIN = 256
const FAR_MS = 1_000
/** Room comes as requests are finished; when that is cannot be known before. */
const RETRY_AFTER_SECONDS = 30

/**
 * Call it in the transaction that has put a request of the account in the queue.
 * @throws ServiceError `RATE_LIMITED` when more wait now than may
 */
export async function assertRoom(
  store: Store,
  accountId: string,
  config: AppConfig,
): Promise<void> {
  const { queueMax, queueMaxPerAccount } = config
  if (!isFarFromFull(config) && (await isBeyond(store, queueMax))) {
    throw queueFull(`${queueMax} requests are waiting, and no more are taken now`)
  }
  if (isPostgres(store)) await noteIfFar(store, config)
  if (queueMaxPerAccount === 0) return
  if (await isBeyond(store, queueMaxPerAccount, accountId)) {
    throw queueFull(`your account has ${queueMaxPerAccount} requests waiting, and may have no more`)
  }
}

/** When the whole queue of a gateway was last found less than half full, by `performance.now()`. */
const lastFar = new WeakMap<AppConfig, number>()

/** Counting thousands takes PostgreSQL longer than storing one; a second does not fill half. */
const isFarFromFull = (config: AppConfig): boolean =>
  performance.now() - (lastFar.get(config) ?? -Infinity) < FAR_MS

async function noteIfFar(store: Store, config: AppConfig): Promise<void> {
  const half = Math.floor(config.queueMax / 2)
  if (half < MARGIN || isFarFromFull(config)) return
  if ((await countWaiting(store, half)) < half) lastFar.set(config, performance.now())
}

/** Whether more requests than `most` wait, of all accounts or of one. */
async function isBeyond(store: Store, most: number, accountId?: string): Promise<boolean> {
  const nearly = Math.max(0, most - MARGIN)
  if ((await countWaiting(store, nearly + 1, accountId)) <= nearly) return false
  await oneAtATime(store, `queue ${accountId ?? ''}`)
  return (await countWaiting(store, most + 1, accountId)) > most
}

const queueFull = (why: string) =>
  new ServiceError('RATE_LIMITED', {
    message: `The queue is full: ${why}. Nothing was stored; try again in ${
      RETRY_AFTER_SECONDS
    } seconds.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
