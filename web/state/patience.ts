/** Retries where the service asks to come later, or is away for a moment. */

import { ApiError, UnreachableError } from '../../clients/typescript/errors.ts'

/** A longer `Retry-After` is not waited for. */
const RETRY_AFTER_SECONDS_MAX = 60
/** Pause when the service names none. */
const RETRY_SECONDS = 5
/** Failures in a row while the service is away: the retries take about a minute. */
const FAILURES_MAX = 6

interface WaitOptions {
  /** Ends the waiting. */
  signal: AbortSignal
  /** Gets why it is waited. */
  onWait?(why: string): void
}

/**
 * Resolves with what `work` does, which may be begun several times.
 * @throws what it throws that a retry would not help; the signal's reason
 */
export async function waitFor<T>(work: () => Promise<T>, patience: WaitOptions): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      patience.signal.throwIfAborted()
      const seconds = secondsToWait(error, failures)
      if (seconds === undefined) throw error
      patience.onWait?.((error as Error).message)
      await sleep(1_000 * seconds, patience.signal)
    }
  }
}

/** Returns undefined where a retry would not help, or comes too late. */
function secondsToWait(error: unknown, failures: number): number | undefined {
  const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined
  if (asked !== undefined && asked > RETRY_AFTER_SECONDS_MAX) return undefined
  if (error instanceof ApiError && error.status === 429) return asked ?? RETRY_SECONDS
  return isAway(error) && failures < FAILURES_MAX ? (asked ?? 2 ** failures) : undefined
}

/**
 * Returns whether the service can't be reached, or says that it can't work now. An address that
 * can't be fetched (502) is an answer like any other: the service is there.
 */
export const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  (error instanceof ApiError && (error.status ?? 0) >= 500 && error.code !== 'MEDIA_FETCH_FAILED')

/** Resolves after `ms`. @throws the reason of the signal when it fires before */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', abort, { once: true })
  })
}
