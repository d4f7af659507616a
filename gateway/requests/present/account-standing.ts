/** Tells the limits of an account, and how much of each it has used. */

import { isoTime, type Clock } from '../../../shared/clock.ts'
import { limitsOf, type LimitDefaults } from '../../accounts/limits.ts'
import { highestPriority } from '../../accounts/priority.ts'
import { usedInMonth } from '../../accounts/month.ts'
import type { Settings } from '../../config.ts'
import type { RequestFeed } from '../follow/request-feed.ts'
import { accountOf, mediaOf } from '../../store/accounts.ts'
import type { Store } from '../../store/database.ts'
import { countJobs } from '../../store/jobs-in-broker.ts'
import { countWaiting } from '../../store/requests.ts'
import type { ApiKeyRow } from '../../store/schema/tables.ts'

/** Requests are counted up to this number. */
const COUNTED_MAX = 10_000

export interface StandingDeps {
  store: Store
  clock: Clock
  feed: Pick<RequestFeed, 'watchesOf'>
  config: LimitDefaults & Settings<'priority'>
}

/**
 * Returns the highest class of requests with the key, and the maximum and the use of each limit by
 * its name. `max` is null if there is no limit; `used` is null for limits on each single key or
 * file.
 */
export async function standingOf(
  { store, clock, feed, config }: StandingDeps,
  key: Pick<ApiKeyRow, 'account_id' | 'own_priority'>,
) {
  const { account_id: accountId } = key
  const account = await accountOf(store, { account_id: accountId })
  const { held, reserved } = mediaOf(account)
  const used = {
    calls_per_minute: null, // counted for each key, and stated in headers
    queued_requests: await countWaiting(store, COUNTED_MAX, { accountId }),
    concurrent_jobs: await countJobs(store, accountId, COUNTED_MAX),
    media_bytes: held + reserved,
    seconds_per_month: await usedInMonth(store, account, isoTime(clock.now())),
    streams: feed.watchesOf(accountId),
    file_bytes: null,
  }
  const limits = Object.fromEntries(
    limitsOf(account, config).map(({ name, max }) => [
      name,
      { max: max === Infinity ? null : max, used: used[name] },
    ]),
  )
  return { priority: highestPriority({ account, key }, config), limits }
}
