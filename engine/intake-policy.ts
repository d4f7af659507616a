/** Which jobs an engine leases and begins: pure functions of what it has in hand. */

/** What the policy sees of a job in hand. */
export interface HeldJob {
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

/** Whether another job may be leased. */
export const mayLease = (inHand: readonly HeldJob[], jobsMax: number): boolean =>
  inHand.length < jobsMax && !inHand.some(isSuspect)

/** Whether `job`, one of those in hand, may begin now; later each end of a job is a new chance. */
export const mayBegin = (job: HeldJob, inHand: readonly HeldJob[]): boolean => {
  const begun = inHand.filter((other) => other !== job && other.begun)
  return begun.length === 0 || ![job, ...begun].some(isSuspect)
}
