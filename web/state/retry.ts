/** Retries when the service asks to come back later, or is away for a moment. */

import { ApiError, UnreachableError } from '../../clients/typescript/errors.ts'

/** A longer `Retry-After` is not waited for. */
const RETRY_AFTER_SECONDS_MAX = 60
/** How long to wait if the service does not say. */
const RETRY_SECONDS = 5
/** After this many failures in a row, which take about a minute, the service counts as gone. */
const FAILURES_MAX = 6

interface WaitOptions {
  /** Ends the waiting. */
  signal: AbortSignal
  /** Receives the reason for each wait. */
  onWait?(why: string): void
}

/**
 * Resolves with what `work` returns, which may be started several times.
 * @throws whatever it throws if a retry would not help; the signal's reason
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

/** Undefined if a retry would not help, or would come too late. */
function secondsToWait(error: unknown, failures: number): number | undefined {
  const asked = error instanceof ApiError ? error.retryAfterSeconds : undefined
  if (asked !== undefined && asked > RETRY_AFTER_SECONDS_MAX) return undefined
  if (error instanceof ApiError && error.status === 429) return asked ?? RETRY_SECONDS
  return isAway(error) && failures < FAILURES_MAX ? (asked ?? 2 ** failures) : undefined
}

/**
 * Whether the service is unreachable or says that it cannot work now. An address that cannot be
 * fetched (502) does not count, because the service did answer.
 */
export const isAway = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  (error instanceof ApiError && (error.status ?? 0) >= 500 && error.code !== 'MEDIA_FETCH_FAILED')

/** Resolves after `ms`. @throws the reason of the signal if it fires before */
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
