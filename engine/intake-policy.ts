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
 * From this delivery on a job runs alone, because what uses up deliveries are mostly engines that
 * crash, perhaps because of the job.
 */
const SUSPECT_DELIVERIES = 3

const isSuspect = ({ deliveries }: OpenJob): boolean => deliveries >= SUSPECT_DELIVERIES

/**
 * How much of an engine the jobs of a queue and of all queues before it may fill. So each queue has
 * a part that no queue before it can take: for short jobs beside long ones, for an account's only
 * job beside the many of others, and for interactive jobs beside batch jobs.
 */
const SHARES: Readonly<Record<JobQueue, number>> = {
  batch: 1 / 8,
  further: 1 / 4,
  first: 1 / 2,
  'short-further': 3 / 4,
  short: 1,
}

/** Whether a job of the queue may be leased. @param pulls queues with an open pull */
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
 * Whether `job` may begin now; asked again after each end of a job or a pull. A suspect waits for
 * open pulls, whose jobs would otherwise wait behind it and be lost with the engine.
 */
export function mayBegin(
  job: OpenJob,
  { inFlight, pulls }: { inFlight: readonly OpenJob[]; pulls: readonly JobQueue[] },
): boolean {
  const others = inFlight.filter((other) => other !== job && other.hasBegun)
  if (isSuspect(job)) return others.length === 0 && pulls.length === 0
  return !others.some(isSuspect)
}
