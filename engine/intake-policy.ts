/** Which jobs an engine leases and begins: pure functions of what it has in hand. */

import type { JobQueue } from '../shared/broker.ts'

/** What the policy sees of a job in hand. */
export interface HeldJob {
  queue: JobQueue
  /** Times that the job has been delivered, this one included. */
  deliveries: number
  /** Whether it has left the wait for its beginning. */
  begun: boolean
}

/**
 * From this delivery on a job runs alone. Deliveries are spent by leases that end in silence,
 * mostly with their engine: such a job may be what ends engines, and must not take others along.
 */
const SUSPECT_DELIVERIES = 3

const isSuspect = ({ deliveries }: HeldJob): boolean => deliveries >= SUSPECT_DELIVERIES

/** Jobs in hand of the queue at once. Of `further` ones half, so that one account leaves room. */
const jobsMaxOf = (queue: JobQueue, jobsMax: number): number =>
  queue === 'first' ? jobsMax : Math.max(1, Math.floor(jobsMax / 2))

/**
 * Whether a job of the queue may be leased.
 * @param pulls queues from which a job may be on its way
 */
export function mayLease(
  queue: JobQueue,
  {
    inHand,
    pulls,
    jobsMax,
  }: { inHand: readonly HeldJob[]; pulls: readonly JobQueue[]; jobsMax: number },
): boolean {
  const taken = [...inHand.map((job) => job.queue), ...pulls]
  const ofQueue = taken.filter((each) => each === queue)
  return (
    taken.length < jobsMax && ofQueue.length < jobsMaxOf(queue, jobsMax) && !inHand.some(isSuspect)
  )
}

/**
 * Whether `job`, one of those in hand, may begin now; later each end of a job or a pull is a new
 * chance. One that runs alone lets a job that may be on its way go first: else that waits in hand
 * and is lost with the engine.
 */
export function mayBegin(
  job: HeldJob,
  { inHand, pulls }: { inHand: readonly HeldJob[]; pulls: readonly JobQueue[] },
): boolean {
  const begun = inHand.filter((other) => other !== job && other.begun)
  if (isSuspect(job)) return begun.length === 0 && pulls.length === 0
  return !begun.some(isSuspect)
}
