/** Retries transient failures, when the other side is unreachable or overloaded. */

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../shared/durations.ts'
import type { Waits } from '../../shared/http/http-request.ts'

/** The other side is unreachable or overloaded; a retry may succeed. */
export class TransientError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

export interface RetryPolicy {
  /** How long to wait before each retry. The error of the last retry is thrown. */
  retryDelaysMs: readonly number[]
  /** How long to wait for a response, or for more of it. */
  silenceMsMax: number
}

const CONNECT_MS_MAX = 10_000

export const RETRY_POLICY: RetryPolicy = {
  retryDelaysMs: [500, 2_000, 8_000],
  silenceMsMax: 30_000,
}

/** Ten minutes, for steps whose failure would lose the work of a job. */
export const LONG_RETRY_POLICY: RetryPolicy = {
  retryDelaysMs: [500, 2_000, 8_000, 30_000, ...Array<number>(9).fill(MINUTE_MS)],
  silenceMsMax: 30_000,
}

export const waitsOf = ({ silenceMsMax }: RetryPolicy): Waits => ({
  connectMsMax: CONNECT_MS_MAX,
  firstByteMsMax: silenceMsMax,
  silenceMsMax,
})

const isTransientError = (error: unknown): boolean => error instanceof TransientError

interface RetryOptions {
  /** Which errors are transient (default: TransientError). */
  isTransient?: (error: unknown) => boolean
  /** Called after each transient failure. */
  onUnavailable?: () => void
}

/**
 * Runs `attempt` until it ends without a transient error, or no retries are left.
 * @throws the last error; the signal's reason once it fires
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retryDelaysMs }: Pick<RetryPolicy, 'retryDelaysMs'>,
  signal: AbortSignal,
  { isTransient = isTransientError, onUnavailable }: RetryOptions = {},
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!isTransient(error)) throw error
      onUnavailable?.()
      const delayMs = retryDelaysMs[failures]
      if (delayMs === undefined) throw error
      await sleep(delayMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
  }
}
