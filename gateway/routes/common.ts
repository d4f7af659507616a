/** What several routes have in common. */

import type { FastifyReply } from 'fastify'

/** For routes that the API description leaves out. */
export const hidden = { schema: { hide: true } }

/** Calls `act` once the client no longer waits for `reply`, or at once if it has gone already. */
export function onHangUp({ raw }: FastifyReply, act: () => void): void {
  if (raw.destroyed) act()
  else raw.once('close', act)
}

export interface RequestRoute {
  Params: { request_id: string }
}

/** An answer without a body. */
export const DELETED = { type: 'null', description: 'It is deleted.' } as const

export const pageParameters = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'Items per page; clamped to the allowed range.',
  },
  cursor: { type: 'string', description: '`next_cursor` of the previous page.' },
} as const

const day = (description: string) => ({ type: 'string', format: 'date', description }) as const

/** The range of days of a report. */
export const dayParameters = {
  from: day('The first day; 29 days before the last one by default.'),
  to: day('The last day; today by default.'),
} as const

export const logsParameter = {
  type: 'boolean',
  default: false,
  description: 'Whether to include the log lines; only `true` and `1` do.',
} as const
