import type { Job } from '../../shared/messages.ts'
import type { LaneOwner } from '../compute/scheduler.ts'

/** Returns whom the lanes of a job belong to. */
export const laneOwnerOf = ({ account_id, request_id, priority }: Job): LaneOwner => ({
  accountId: account_id,
  requestId: request_id,
  priority,
})
