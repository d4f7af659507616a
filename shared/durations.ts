/** Units of time, and lengths of time as people write them. */

import ms from 'ms'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export const HOUR_SECONDS = HOUR_MS / SECOND_MS
export const DAY_SECONDS = DAY_MS / SECOND_MS

/**
 * Returns the milliseconds of a text such as `30d`, `12h` or `1 year`; undefined if it is not a
 * duration.
 */
export function readDuration(text: string): number | undefined {
  // Without a unit, `ms` would read 30 as milliseconds; it throws for longer texts.
  const value = /^.{0,40}[a-z]$/i.test(text) ? ms(text as ms.StringValue) : undefined
  return value !== undefined && value > 0 ? value : undefined
}
