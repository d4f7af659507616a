/** Decides which jobs an engine leases and starts, as pure functions of its open jobs. */

import type { JobQueue } from '../shared/broker/broker.ts'

/** What the policy needs to know of an open job. */
export interface OpenJob {
  queue: JobQueue
  /** How often the job has been delivered, including this time. */
  deliveries: number
  /** Whether it has been allowed to begin. */
  hasBegun: boolean
}

/**
 * From this delivery on a job runs alone. Deliveries are used up when leases lapse, mostly because
 * an engine crashed. The job may be the cause, and must not take other jobs with it.
 */
const SUSPECT_DELIVERIES = 3

const isSuspect = ({ deliveries }: OpenJob): boolean => deliveries >= SUSPECT_DELIVERIES

/**
 * How much of an engine the jobs of a queue may fill, together with those of all queues before it.
 * So each queue has a part that no queue before it can take. This keeps room for short jobs beside
 * any number of long ones, for an account's only job beside the many of others, and for interactive
 * jobs beside those that can wait.
 */
const SHARES: Readonly<Record<JobQueue, number>> = {
  batch: 1 / 8,
  further: 1 / 4,
  first: 1 / 2,
  'short-further': 3 / 4,
  short: 1,
}

/**
 * Whether a job of the queue may be leased.
 * @param pulls queues with an open pull, from which a job may be about to arrive
 */
export function mayLease(
  queue: JobQueue,
  {
    inFlight,
    pulls,
    jobsMax,
  }: { inFlight: readonly OpenJob[]; pulls: readonly JobQueue[]; jobsMax: number },
): boolean {
  const taken = [...inFlight.map((job) => job.queue), ...pulls]
  const upToQueue = taken.filter((other) => SHARES[other] <= SHARES[queue])
  const most = Math.max(1, Math.round(SHARES[queue] * jobsMax))
  return taken.length < jobsMax && upToQueue.length < most && !inFlight.some(isSuspect)
}

/**
 * Whether `job`, one of those in flight, may begin now; asked again each time that a job or a pull
 * ends. A job that must run alone waits for open pulls, because their jobs would otherwise wait
 * behind it and be lost with the engine.
 */
export function mayBegin(
  job: OpenJob,
  { inFlight, pulls }: { inFlight: readonly OpenJob[]; pulls: readonly JobQueue[] },
): boolean {
  const others = inFlight.filter((other) => other !== job && other.hasBegun)
  if (isSuspect(job)) return others.length === 0 && pulls.length === 0
  return !others.some(isSuspect)
}
