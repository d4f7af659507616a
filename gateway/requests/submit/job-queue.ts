/** Chooses the queue of a job, so that no account fills all engines while another waits. */

import type { JobQueue } from '../../../shared/broker/broker.ts'
import type { Store } from '../../store/database.ts'
import { jobsInBroker } from '../../store/jobs-in-broker.ts'
import type { WaitingJob } from '../../store/outbox.ts'

type QueuedJob = Pick<WaitingJob, 'request_id' | 'account_id' | 'attempts' | 'is_short'>

/**
 * By request: `first` for the only long job that an account has with the broker, `short` for the
 * only short one, and so for one that was begun before, for it has waited; the `further` queue of
 * its length for the rest, which may fill a part of an engine only.
 */
export async function queuesOf(
  store: Store,
  waiting: readonly QueuedJob[],
): Promise<Map<string, JobQueue>> {
  const accountIds = [...new Set(waiting.map((row) => row.account_id))]
  const present = await jobsInBroker(store, accountIds)
  const queues = new Map<string, JobQueue>()
  for (const { request_id: requestId, account_id: accountId, attempts, is_short } of waiting) {
    const jobs = present.get(accountId) ?? { short: false, long: false }
    const length = is_short ? 'short' : 'long'
    const isFurther = attempts === 0 && jobs[length]
    queues.set(requestId, QUEUES[length][isFurther ? 'further' : 'only'])
    present.set(accountId, { ...jobs, [length]: true })
  }
  return queues
}

const QUEUES = {
  long: { only: 'first', further: 'further' },
  short: { only: 'short', further: 'short-further' },
} as const
