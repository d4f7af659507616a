/** Statuses in words. */

import type { Status } from '../../clients/typescript/client.ts'

/** Such as `45 %, about 20 s left`. @param current null: there is none yet */
export function textOf(current: Status | null): string {
  if (!current) return 'connecting'
  if (current.status === 'COMPLETED') return 'completed'
  const { queue_position: position, estimated_seconds_left: left } = current
  const leftText = left === undefined ? '' : `, ${leftOf(left)}`
  if (current.status === 'IN_QUEUE') {
    return `${position === undefined ? '' : `number ${position} `}in the queue${leftText}`
  }
  return `${Math.round(100 * (current.progress ?? 0))} %${leftText}`
}

/** Such as `about 20 s left`. */
export const leftOf = (seconds: number): string =>
  `about ${seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} left`
