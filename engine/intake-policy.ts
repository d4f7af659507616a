/** Which jobs an engine leases and starts: pure functions of its open jobs. */

import type { JobQueue } from '../shared/broker/broker.ts'

/** An open job, as the policy sees it. */
export interface HeldJob {
  queue: JobQueue
  /** Times that the job has been delivered, this one included. */
  deliveries: number
  /** True if it has left the wait for its beginning. */
  begun: boolean
}

/**
 * From this delivery on a job runs alone. Deliveries are used up by leases that lapse, mostly with
 * their engine: such a job may crash engines, and must not end other jobs with them.
 */
const SUSPECT_DELIVERIES = 3

const isSuspect = ({ deliveries }: HeldJob): boolean => deliveries >= SUSPECT_DELIVERIES

/** Jobs of the queue in flight at once. For `further` half, so that one account leaves room. */
const jobsMaxOf = (queue: JobQueue, jobsMax: number): number =>
  queue === 'first' ? jobsMax : Math.max(1, Math.floor(jobsMax / 2))

/**
 * Returns whether a job of the queue may be leased.
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
 * Returns whether `job`, one of those in flight, may begin now; later each end of a job or a pull
 * is a new chance. A job that runs alone waits for the jobs of open pulls: else those would wait
 * behind it and be lost with the engine.
 */
export function mayBegin(
  job: HeldJob,
  { inHand, pulls }: { inHand: readonly HeldJob[]; pulls: readonly JobQueue[] },
): boolean {
  const begun = inHand.filter((other) => other !== job && other.begun)
  if (isSuspect(job)) return begun.length === 0 && pulls.length === 0
  return !begun.some(isSuspect)
}
