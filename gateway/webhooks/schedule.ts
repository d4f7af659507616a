/** Schedules the retries of a webhook (docs/decisions/api.md). */

import { DAY_SECONDS, HOUR_SECONDS } from '../../shared/durations.ts'

/** The delay before each attempt, the first included: there are as many attempts as entries. */
export const DELAYS_SECONDS = [
  0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
] as const

/** The random part of a delay, relative to it: it spreads the attempts of many webhooks. */
const JITTER = 0.2
/** The upper bound of a receiver's Retry-After. */
const RETRY_AFTER_SECONDS_MAX = DAY_SECONDS
/**
 * The longest time from the first attempt to the last, whatever receivers ask for. It covers the
 * longest sum of the delays, and is shorter than the records of requests are kept.
 */
export const ATTEMPTS_SECONDS_MAX = 92 * HOUR_SECONDS

interface LastAttempt {
  /** So far, this one included. */
  attempts: number
  /** Epoch milliseconds. */
  firstAttemptAt: number
  /** The header of the response, if there was one. */
  retryAfter?: string | undefined
  /** Epoch milliseconds. */
  now: number
  /** From 0 up to 1. */
  random: number
}

/** Milliseconds until the next attempt; undefined when that was the last. */
export function retryDelayMs(last: LastAttempt): number | undefined {
  const seconds = DELAYS_SECONDS[last.attempts]
  const leftMs = last.firstAttemptAt + 1_000 * ATTEMPTS_SECONDS_MAX - last.now
  if (seconds === undefined || leftMs <= 0) return undefined
  const spread = 1 + JITTER * (2 * last.random - 1)
  const asked = secondsAsked(last.retryAfter, last.now)
  return Math.min(Math.round(1_000 * Math.max(seconds * spread, asked)), leftMs)
}

/** The delay of a Retry-After header: a number of seconds, or a date. 0 for anything else. */
function secondsAsked(header: string | undefined, now: number): number {
  const text = header?.trim() ?? ''
  const isDate = /^[A-Z][a-z]{2}.*GMT$/.test(text)
  const seconds = isDate ? (Date.parse(text) - now) / 1_000 : /^\d+$/.test(text) ? Number(text) : 0
  return Math.min(Math.max(seconds || 0, 0), RETRY_AFTER_SECONDS_MAX)
}
