/** Chooses the queue of a job, so that no account fills all engines while another waits. */

import type { JobQueue } from '../../../shared/broker/broker.ts'
import { reservedOf } from '../../../shared/priority.ts'
import { limitOf } from '../../accounts/limits.ts'
import { inTransaction, isPostgres, oneAtATime, type Store } from '../../store/database.ts'
import { countJobs, jobsInBroker, takeBrokerPlaces } from '../../store/jobs-in-broker.ts'
import type { WaitingJob } from '../../store/outbox.ts'

type QueuedJob = Pick<
  WaitingJob,
  'request_id' | 'account_id' | 'attempts' | 'priority' | 'is_short'
>

/**
 * Returns the queue of each job by the id of its request. An account's only long interactive job
 * with the broker goes to `first`, its only short one to `short`. So does a job that was attempted
 * before, because it has waited already. The others go to the further queue of their length, which
 * may fill only a part of an engine; batch jobs go to `batch`. Jobs get no queue if their account
 * has as many with the broker as it may; batch jobs leave a share of these to interactive ones. A
 * job that a limit allows takes its place at once, because several gateways choose at once.
 */
export async function queuesOf(
  store: Store,
  waiting: readonly QueuedJob[],
  jobsMaxPerAccount: number,
): Promise<Map<string, JobQueue>> {
  // One that is handed over again may have had a place before.
  const except = waiting.map((row) => row.request_id)
  const present = await jobsInBroker(store, accountsOf(waiting), except)
  const limits = new Map<string, number>()
  for (const [accountId, jobs] of present) {
    const { max } = limitOf(jobs, 'concurrent_jobs', jobsMaxPerAccount)
    if (max !== Infinity) limits.set(accountId, max)
  }
  const isLimited = ({ account_id: accountId, priority }: QueuedJob) =>
    limits.has(accountId) || priority === 'batch'
  const limited = waiting.filter(isLimited)
  if (limited.length === 0 || !isPostgres(store)) return choose(store, waiting, { present, limits })
  return inTransaction(store, async (store) => {
    // Another gateway that counts the jobs of one of these accounts sees the places taken here.
    for (const id of accountsOf(limited).sort()) await oneAtATime(store, `jobs ${id}`)
    const queues = await choose(store, waiting, { present: new Map(present), limits })
    const ids = limited.map((row) => row.request_id).filter((id) => queues.has(id))
    await takeBrokerPlaces(store, ids)
    return queues
  })
}

const accountsOf = (rows: readonly QueuedJob[]) => [...new Set(rows.map((row) => row.account_id))]

interface AccountJobs {
  present: Awaited<ReturnType<typeof jobsInBroker>>
  /** Jobs that an account may have with the broker, if not any number. */
  limits: ReadonlyMap<string, number>
}

async function choose(
  store: Store,
  waiting: readonly QueuedJob[],
  { present, limits }: AccountJobs,
): Promise<Map<string, JobQueue>> {
  const except = waiting.map((row) => row.request_id)
  const rooms = new Map<string, { room: number; reserved: number }>()
  for (const [accountId, max] of limits) {
    const room = max - (await countJobs(store, accountId, max, { except }))
    rooms.set(accountId, { room, reserved: reservedOf(max) })
  }
  const batchRooms = await batchRoomsOf(store, waiting)
  const queues = new Map<string, JobQueue>()
  for (const { request_id: requestId, account_id: accountId, ...row } of waiting) {
    const { attempts, priority, is_short } = row
    const jobs = present.get(accountId) ?? NOTHING
    const isBatch = priority === 'batch'
    const place = rooms.get(accountId)
    const batchRoom = isBatch ? batchRooms.get(accountId)! : Infinity
    const isFull = batchRoom <= 0 || (place && place.room <= (isBatch ? place.reserved : 0))
    // a job that was attempted before is not held back
    if (isFull && attempts === 0) continue
    if (place) place.room -= 1
    if (isBatch) {
      batchRooms.set(accountId, batchRoom - 1)
      queues.set(requestId, 'batch')
      continue
    }
    const length = is_short ? 'short' : 'long'
    const isFurther = attempts === 0 && jobs[length]
    queues.set(requestId, QUEUES[length][isFurther ? 'further' : 'only'])
    present.set(accountId, { ...jobs, [length]: true })
  }
  return queues
}

/**
 * How many batch jobs of one account may be with the broker at once. Their queue is in order of
 * arrival, so more would delay those of all other accounts; the rest wait in the outbox, where they
 * delay nobody.
 */
const BATCH_JOBS_MAX = 16

/** Returns how many more batch jobs each account may have with the broker. */
async function batchRoomsOf(
  store: Store,
  waiting: readonly QueuedJob[],
): Promise<Map<string, number>> {
  const batch = waiting.filter(({ priority }) => priority === 'batch')
  const except = waiting.map((row) => row.request_id)
  const rooms = new Map<string, number>()
  for (const accountId of accountsOf(batch)) {
    const counted = { priority: 'batch', except } as const
    const jobs = await countJobs(store, accountId, BATCH_JOBS_MAX, counted)
    rooms.set(accountId, BATCH_JOBS_MAX - jobs)
  }
  return rooms
}

const NOTHING = { short: false, long: false, max_concurrent_jobs: null }

const QUEUES = {
  long: { only: 'first', further: 'further' },
  short: { only: 'short', further: 'short-further' },
} as const
