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

/**
 * The share of an engine that the jobs of a queue may fill together with those of all queues before
 * it. So each queue has a quarter that none before it can take: there is room for a short job
 * beside any number of long ones, and for an account's only one beside the further ones of others.
 */
const SHARES: Readonly<Record<JobQueue, number>> = {
  further: 1 / 4,
  first: 1 / 2,
  'short-further': 3 / 4,
  short: 1,
}

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
  const upToQueue = taken.filter((other) => SHARES[other] <= SHARES[queue])
  const most = Math.max(1, Math.round(SHARES[queue] * jobsMax))
  return taken.length < jobsMax && upToQueue.length < most && !inHand.some(isSuspect)
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
