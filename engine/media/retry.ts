/** Tries again what failed for a reason that may pass: the other side away, or overloaded. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Waits } from '../../shared/http/http-request.ts'

/** The other side could not be reached, or could not answer: it may later. */
export class TransientError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

export interface RetryPolicy {
  /** Pauses before the second try, the third and so on; after the last try it is given up. */
  retryDelaysMs: readonly number[]
  /** The longest wait for an answer, or for more of it. */
  silenceMsMax: number
}

const CONNECT_MS_MAX = 10_000

export const RETRY_POLICY: RetryPolicy = {
  retryDelaysMs: [500, 2_000, 8_000],
  silenceMsMax: 30_000,
}

/** Ten minutes: for what is worth a job's work. */
export const LONG_RETRY_POLICY: RetryPolicy = {
  retryDelaysMs: [500, 2_000, 8_000, 30_000, ...Array<number>(9).fill(60_000)],
  silenceMsMax: 30_000,
}

export const waitsOf = ({ silenceMsMax }: RetryPolicy): Waits => ({
  connectMsMax: CONNECT_MS_MAX,
  firstByteMsMax: silenceMsMax,
  silenceMsMax,
})

const isTransient = (error: unknown): boolean => error instanceof TransientError

interface RetryOptions {
  /** Which errors may pass; where not given, a TransientError. */
  mayPass?: (error: unknown) => boolean
  /** Called after each try that fails with one. */
  onAway?: () => void
}

/**
 * Runs `attempt` until it ends otherwise than with a passing error, or has been tried often enough.
 * @throws the last error; the signal's reason once it fires
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  { retryDelaysMs }: Pick<RetryPolicy, 'retryDelaysMs'>,
  signal: AbortSignal,
  { mayPass = isTransient, onAway }: RetryOptions = {},
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!mayPass(error)) throw error
      onAway?.()
      const delayMs = retryDelaysMs[tries]
      if (delayMs === undefined) throw error
      await sleep(delayMs * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
    }
  }
}
