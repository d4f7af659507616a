/** Reads values of query strings. An invalid value counts as the default, and is not refused. */

import { isId } from '../../shared/ids.ts'
import type { PageStart } from '../store/pages.ts'

const INTERVAL_SECONDS = { least: 1, most: 10, default: 2 }
/** A time as the database writes it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const LIMIT = { least: 1, most: 100, default: 20 }

export const flagOf = (value: unknown): boolean => value === 'true' || value === '1'

/** Returns the milliseconds between two events of a status stream, from clamped seconds. */
export const intervalMsOf = (value: unknown): number => 1_000 * numberOf(value, INTERVAL_SECONDS)

/** Returns the number of items on a page, clamped. */
export const limitOf = (value: unknown): number => Math.floor(numberOf(value, LIMIT))

function numberOf(value: unknown, range: { least: number; most: number; default: number }): number {
  const isText = typeof value === 'string' && value.trim() !== ''
  const number = isText || typeof value === 'number' ? Number(value) : NaN
  if (Number.isNaN(number)) return range.default
  return Math.min(range.most, Math.max(range.least, number))
}

/**
 * Returns the items of one page, and the cursor of the next page if there is one.
 * @param rows the rows of the page, and one more if there is a next page
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  startAfter: (last: Row) => PageStart,
): { page: Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { page, next_cursor: last === undefined ? null : cursorOf(startAfter(last)) }
}

/** Returns the start of the page after `last`, for lists by creation time and id. */
export const startAt = ({ created_at }: { created_at: string }, id: string): PageStart => ({
  created_at,
  id,
})

/** Returns a cursor, which is opaque to clients. */
export const cursorOf = (start: PageStart): string =>
  Buffer.from(JSON.stringify([start.created_at, start.id])).toString('base64url')

export function pageStartOf(cursor: unknown): PageStart | undefined {
  if (typeof cursor !== 'string') return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(parts) || !parts.every((part) => typeof part === 'string')) return undefined
    const [createdAt = '', id = ''] = parts
    if (!TIME.test(createdAt) || !isId(id)) return undefined
    return { created_at: createdAt, id }
  } catch {
    return undefined
  }
}
