/** Retries calls that the service refuses temporarily, or that get no response. */

import { ApiError, UnreachableError } from './errors.ts'

/** The longest `Retry-After` that the client waits for. */
export const RETRY_AFTER_SECONDS_MAX = 60
/** The first pause if the service names none; each further one is twice as long. */
const PAUSE_MS = 500
/** Final although it is a 5xx: the service responded, but could not fetch the client's address. */
const FINAL_CODE = 'MEDIA_FETCH_FAILED'

export interface RetryOptions {
  /** Attempts after the first one. */
  retries: number
  /** Aborts the waiting. */
  signal: AbortSignal
  /** Whether it is safe to repeat a call that the service may already have served. */
  isRepeatable?: boolean | undefined
  /** How far the work is. Retries are counted anew after an attempt that made progress. */
  progress?: () => number
}

/**
 * Resolves with the result of `work`, which may run several times.
 * @param work receives the number of the attempt, from 1
 * @throws what it throws if no retry is left or a retry would not help; the signal's reason
 */
export async function retryCall<T>(
  { retries, signal, isRepeatable = true, progress = () => 0 }: RetryOptions,
  work: (attempt: number) => Promise<T>,
): Promise<T> {
  let furthest = progress()
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt)
    } catch (error) {
      signal.throwIfAborted()
      if (progress() > furthest) attempt = 1
      furthest = Math.max(furthest, progress())
      const mayHelp = isRepeatable ? isTransient(error) : isRateLimited(error)
      const ms = mayHelp && attempt <= retries ? pauseMs(error, attempt) : undefined
      if (ms === undefined) throw error
      await sleep(ms, signal)
    }
  }
}

/** Returns whether the service may take the same call later. */
export const isTransient = (error: unknown): boolean => isUnavailable(error) || isRateLimited(error)

/** Returns whether the service cannot be reached, or says that it cannot work now. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  (error instanceof ApiError && (error.status ?? 0) >= 500 && error.code !== FINAL_CODE)

const isRateLimited = (error: unknown): boolean => error instanceof ApiError && error.status === 429

/**
 * Returns the pause, or undefined if it is too long. Its random part keeps many clients from
 * retrying at the same moment.
 */
function pauseMs(error: unknown, attempt: number): number | undefined {
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : undefined
  if (seconds === undefined) return PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2)
  if (seconds > RETRY_AFTER_SECONDS_MAX) return undefined
  return 1_000 * seconds + PAUSE_MS * Math.random()
}

/**
 * Resolves after `ms`.
 * @throws the reason of the signal if it fires first
 */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}
