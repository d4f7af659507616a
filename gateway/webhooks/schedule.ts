/** Schedules the retries of a webhook (docs/decisions/api.md). */

import { DAY_SECONDS, HOUR_SECONDS } from '../../shared/durations.ts'

/** The delay before each attempt, including the first, so there are as many attempts as entries. */
export const DELAYS_SECONDS = [
  0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
] as const

/** The random part of a delay, as a fraction of it. It spreads the attempts of many webhooks. */
const JITTER = 0.2
/** The longest Retry-After of a receiver that is respected. */
const RETRY_AFTER_SECONDS_MAX = DAY_SECONDS
/**
 * The longest time from the first attempt to the last, whatever receivers ask for. It is longer
 * than the longest sum of the delays, and shorter than the time for which requests are kept.
 */
export const ATTEMPTS_SECONDS_MAX = 92 * HOUR_SECONDS

interface LastAttempt {
  /** The number of attempts so far, including this one. */
  attempts: number
  /** Epoch milliseconds. */
  firstAttemptAt: number
  retryAfter?: string | undefined
  /** Epoch milliseconds. */
  now: number
  /** From 0 up to 1. */
  random: number
}

/** Returns the milliseconds until the next attempt, or undefined if that was the last. */
export function retryDelayMs(last: LastAttempt): number | undefined {
  const seconds = DELAYS_SECONDS[last.attempts]
  const leftMs = last.firstAttemptAt + 1_000 * ATTEMPTS_SECONDS_MAX - last.now
  if (seconds === undefined || leftMs <= 0) return undefined
  const spread = 1 + JITTER * (2 * last.random - 1)
  const retryAfter = secondsAsked(last.retryAfter, last.now)
  return Math.min(Math.round(1_000 * Math.max(seconds * spread, retryAfter)), leftMs)
}

/**
 * Returns the seconds that a Retry-After header asks for, as a number or a date; 0 for anything
 * else.
 */
function secondsAsked(header: string | undefined, now: number): number {
  const text = header?.trim() ?? ''
  const isDate = /^[A-Z][a-z]{2}.*GMT$/.test(text)
  const seconds = isDate ? (Date.parse(text) - now) / 1_000 : /^\d+$/.test(text) ? Number(text) : 0
  return Math.min(Math.max(seconds || 0, 0), RETRY_AFTER_SECONDS_MAX)
}
