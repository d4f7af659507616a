/** Retries calls that the service refuses for now, or that nobody answers. */

import { ApiError, UnreachableError } from './errors.ts'

/** A longer `Retry-After` is not waited for. */
export const RETRY_AFTER_SECONDS_MAX = 60
/** The first pause where the service names none; each one after it is twice as long. */
const PAUSE_MS = 500
/** The service's own attempt to fetch what a client named: it was answered. */
const ANSWERED = 'MEDIA_FETCH_FAILED'

export interface RetryOptions {
  /** Calls after the first one. */
  retries: number
  /** Ends the waiting. */
  signal: AbortSignal
  /** True if a call that may have been served can be made again. */
  isRepeatable?: boolean | undefined
  /** How far the work is: where an attempt brought it on, the retries count from there. */
  progress?: () => number
}

/**
 * Resolves with what `work` does, which may be begun several times.
 * @param work gets the number of the try, from 1
 * @throws what it throws when no retry is left or none would help; the signal's reason
 */
export async function retryCall<T>(
  { retries, signal, isRepeatable = true, progress = () => 0 }: RetryOptions,
  work: (tries: number) => Promise<T>,
): Promise<T> {
  let furthest = progress()
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(tries)
    } catch (error) {
      signal.throwIfAborted()
      if (progress() > furthest) tries = 1
      furthest = Math.max(furthest, progress())
      const mayHelp = isRepeatable ? isTransient(error) : isRateLimited(error)
      const ms = mayHelp && tries <= retries ? pauseMs(error, tries) : undefined
      if (ms === undefined) throw error
      await sleep(ms, signal)
    }
  }
}

/** Returns whether the service is away or overloaded, rather than refusing the call. */
export const isTransient = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  isRateLimited(error) ||
  (error instanceof ApiError && (error.status ?? 0) >= 500 && error.code !== ANSWERED)

const isRateLimited = (error: unknown): boolean => error instanceof ApiError && error.status === 429

/** With a random part, so that many clients do not come back together; undefined: too long. */
function pauseMs(error: unknown, tries: number): number | undefined {
  const seconds = error instanceof ApiError ? error.retryAfterSeconds : undefined
  if (seconds === undefined) return PAUSE_MS * 2 ** (tries - 1) * (0.5 + Math.random() / 2)
  if (seconds > RETRY_AFTER_SECONDS_MAX) return undefined
  return 1_000 * seconds + PAUSE_MS * Math.random()
}

/** Resolves after `ms`. @throws the reason of the signal when it fires before */
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
