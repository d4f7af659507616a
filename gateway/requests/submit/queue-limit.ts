/** Limits how many requests may wait. */

import { ServiceError } from '../../../shared/errors.ts'
import { nextAccount } from '../../../shared/fair-share.ts'
import { reservedOf, type Priority } from '../../../shared/priority.ts'
import { limitOf, limitText } from '../../accounts/limits.ts'
import type { Settings } from '../../config.ts'
import { isPostgres, oneAtATime, type Store } from '../../store/database.ts'
import { countWaiting } from '../../store/requests.ts'
import type { AccountRow } from '../../store/schema/tables.ts'

export type QueueLimits = Settings<'queueMax' | 'queueMaxPerAccount'>

/**
 * This close to a limit, submits are counted one at a time. There are never this many submits in
 * progress at once.
 */
const MARGIN = 256
const BELOW_QUARTER_MS = 1_000
/** A guess, since nobody knows when requests will finish. */
const RETRY_AFTER_SECONDS = 30

/**
 * Checks whether the queue has room; call it in the transaction that has put a request of the
 * account in it.
 * @throws ServiceError `RATE_LIMITED` if more requests wait now than may, of all accounts or of
 *   this one
 */
export async function assertRoom(
  store: Store,
  account: AccountRow,
  config: QueueLimits,
  priority: Priority,
): Promise<void> {
  const { account_id: accountId } = account
  const { queueMax, queueMaxPerAccount } = config
  const placesFor = (most: number) => (priority === 'batch' ? batchPlaces(most) : most)
  if (!isBelowQuarter(config))
    await assertShare(store, { accountId, priority }, placesFor(queueMax))
  if (isPostgres(store)) await noteIfBelowQuarter(store, config)
  const limit = limitOf(account, 'queued_requests', queueMaxPerAccount)
  if (limit.max === Infinity) return
  const most = placesFor(limit.max)
  if (await isBeyond(store, most, accountId)) {
    const note =
      most < limit.max ? `; of ${limit.max}, ${limit.max - most} are kept from batch` : ''
    throw queueFull(
      `your account has ${most} requests waiting, and may have no more ${limitText(limit)}${note}`,
    )
  }
}

/** What is left for batch of the places that interactive requests may have. */
const batchPlaces = (places: number): number => places - reservedOf(places)

/**
 * Shares the places of the queue as `fair-share.ts` shares slots: an account takes one only while
 * more are free than it has, so that one account leaves room for the first request of another.
 */
async function assertShare(
  store: Store,
  { accountId, priority }: { accountId: string; priority: Priority },
  queueMax: number,
): Promise<void> {
  const halfOfIt = Math.floor(queueMax / 2) // until then nobody is refused
  if (!(await isNear(store, halfOfIt))) return
  await oneAtATime(store, 'queue ')
  // Without the request in question.
  const all = (await countWaiting(store, queueMax + 1)) - 1
  // Batch that waits takes no places from its own account's interactive requests.
  const counted = priority === 'interactive' ? { accountId, priority } : { accountId }
  const own = (await countWaiting(store, queueMax + 1, counted)) - 1
  const shares = new Map([
    [accountId, { inHand: own, lastTurn: 0 }],
    ['all others', { inHand: all - own, lastTurn: 0 }],
  ])
  if (nextAccount([accountId], shares, queueMax) !== undefined) return
  throw queueFull(
    own === 0
      ? `${all} requests are waiting, and no more are taken now`
      : `your account has ${own} of the ${all} requests that wait, and each further one must ` +
          `leave more free of ${queueMax} places than that`,
  )
}

/** When the queue of a gateway was last found less than a quarter full, by `performance.now()`. */
const lastBelowQuarterAt = new WeakMap<QueueLimits, number>()

/**
 * Returns whether the queue was less than a quarter full a moment ago. PostgreSQL takes longer to
 * count thousands of requests than to store one, and a quarter does not fill up within a second.
 */
const isBelowQuarter = (config: QueueLimits): boolean =>
  performance.now() - (lastBelowQuarterAt.get(config) ?? -Infinity) < BELOW_QUARTER_MS

async function noteIfBelowQuarter(store: Store, config: QueueLimits): Promise<void> {
  const quarter = Math.floor(config.queueMax / 4)
  if (quarter < MARGIN || isBelowQuarter(config)) return
  if ((await countWaiting(store, quarter)) < quarter)
    lastBelowQuarterAt.set(config, performance.now())
}

/** Returns whether more than `most` requests of an account are waiting. */
async function isBeyond(store: Store, most: number, accountId: string): Promise<boolean> {
  if (!(await isNear(store, most, accountId))) return false
  await oneAtATime(store, `queue ${accountId}`)
  return (await countWaiting(store, most + 1, { accountId })) > most
}

/** Returns whether nearly `most` requests or more are waiting, of all accounts or of one. */
async function isNear(store: Store, most: number, accountId?: string): Promise<boolean> {
  const nearly = Math.max(0, most - MARGIN)
  return (await countWaiting(store, nearly + 1, { accountId })) > nearly
}

const queueFull = (why: string) =>
  new ServiceError('RATE_LIMITED', {
    message: `The queue is full: ${why}. Nothing was stored; retry in ${
      RETRY_AFTER_SECONDS
    } seconds.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
