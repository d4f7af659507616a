/** Retries when the service asks to come back later, or is unavailable for a moment. */

import { ApiError } from '../../clients/typescript/errors.ts'
import { isUnavailable, RETRY_AFTER_SECONDS_MAX, sleep } from '../../clients/typescript/retry.ts'

/** How long to wait if the service does not say. */
const RETRY_SECONDS = 5
/** After this many failures in a row, which take about a minute, the service counts as gone. */
const FAILURES_MAX = 6

/** For work that goes on when its view is left. */
export const never = new AbortController().signal

interface RetryOptions {
  /** Ends the waiting. */
  signal: AbortSignal
  /** Receives the reason for each wait. */
  onWait?(why: string): void
}

/**
 * Resolves with the result of `work`, which may run several times.
 * @throws whatever `work` throws if a retry would not help; the signal's reason
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { signal, onWait }: RetryOptions,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      const seconds = secondsToWait(error, failures)
      if (seconds === undefined) throw error
      onWait?.((error as Error).message)
      await sleep(1_000 * seconds, signal)
    }
  }
}

/** Returns how long to wait; undefined if a retry would not help, or would come too late. */
function secondsToWait(error: unknown, failures: number): number | undefined {
  const retryAfter = error instanceof ApiError ? error.retryAfterSeconds : undefined
  if (retryAfter !== undefined && retryAfter > RETRY_AFTER_SECONDS_MAX) return undefined
  if (error instanceof ApiError && error.status === 429) return retryAfter ?? RETRY_SECONDS
  return isUnavailable(error) && failures < FAILURES_MAX ? (retryAfter ?? 2 ** failures) : undefined
}
