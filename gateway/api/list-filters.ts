/** Reads the filters of lists. A wrong filter is refused, unlike other wrong values in a query. */

import { ServiceError } from '../../shared/errors.ts'
import type { RequestKind } from '../../shared/request-kind.ts'
import { REQUEST_STATUSES, type RequestStatus } from '../../shared/request-status.ts'
import { isoTime } from '../../shared/clock.ts'
import { MODEL_ID, SOUNDS_MODEL } from './schemas.ts'

export interface ListFilters {
  status?: RequestStatus | undefined
  kind?: RequestKind | undefined
  /** Created at this time or later, as the database writes times. */
  createdFrom?: string | undefined
  /** Created before this time. */
  createdBefore?: string | undefined
}

/** A time with its zone, as in RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/

/** @throws ServiceError `INVALID_PARAMETER` that names the value */
export const listFiltersOf = (query: {
  status?: unknown
  model?: unknown
  created_from?: unknown
  created_before?: unknown
}): ListFilters => ({
  status: statusOf(query.status, REQUEST_STATUSES),
  kind: kindNamed(query.model),
  createdFrom: timeOf('created_from', query.created_from),
  createdBefore: timeOf('created_before', query.created_before),
})

/** @throws ServiceError `INVALID_PARAMETER` that names all of `statuses` */
export function statusOf<Status extends string>(
  value: unknown,
  statuses: readonly Status[],
): Status | undefined {
  if (value === undefined || value === '') return undefined
  const status = statuses.find((name) => name === value)
  if (status) return status
  throw filterError('status', `one of ${statuses.join(', ')}`)
}

function kindNamed(value: unknown): RequestKind | undefined {
  if (value === undefined || value === '') return undefined
  if (value === MODEL_ID) return 'separate'
  if (value === SOUNDS_MODEL) return 'sounds'
  throw filterError('model', `one of ${MODEL_ID}, ${SOUNDS_MODEL}`)
}

/** @throws ServiceError `INVALID_PARAMETER` that names `param` */
export function timeOf(param: string, value: unknown): string | undefined {
  if (value === undefined || value === '') return undefined
  const time = typeof value === 'string' && TIME.test(value) ? Date.parse(value) : NaN
  if (Number.isNaN(time)) throw filterError(param, 'a time such as 2026-01-31T12:00:00Z')
  return isoTime(time)
}

const filterError = (param: string, right: string) =>
  new ServiceError('INVALID_PARAMETER', { message: `${param} must be ${right}.`, param })
