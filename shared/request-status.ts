/** The four statuses, and the moves between them (docs/reference/contract.md, part 3). */

export const REQUEST_STATUSES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const

export type RequestStatus = (typeof REQUEST_STATUSES)[number]

/**
 * For each status, the statuses from which a request may move to it. None follow a terminal status.
 */
export const MAY_MOVE_FROM = {
  IN_QUEUE: ['IN_PROGRESS'],
  IN_PROGRESS: ['IN_QUEUE', 'IN_PROGRESS'],
  COMPLETED: ['IN_QUEUE', 'IN_PROGRESS'],
  FAILED: ['IN_QUEUE', 'IN_PROGRESS'],
} as const satisfies Record<RequestStatus, readonly RequestStatus[]>

export const isTerminal = (status: RequestStatus): boolean =>
  status === 'COMPLETED' || status === 'FAILED'
