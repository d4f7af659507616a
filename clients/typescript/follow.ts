/** Follows the status of a request over a sequence of streams. */

import type { components } from './api.ts'
import { ApiError, readError } from './errors.ts'
import { readEvents } from './event-stream.ts'
import { isTransient, RETRY_AFTER_SECONDS_MAX, sleep } from './retry.ts'
import { TimeLimit, timelyPieces } from './time-limit.ts'

type Status = components['schemas']['QueueStatusResponse']

/**
 * Attempts in a row to open a status stream without getting an event; enough for a service to
 * restart.
 */
const STREAM_ATTEMPTS_MAX = 24
/** Each pause between them is longer by this; together they are 75 s. */
const STREAM_WAIT_MS = 250
/**
 * A stream sends something every 10 s, so one that is silent for longer has lost its connection.
 */
const STREAM_SILENCE_SECONDS_MAX = 30

interface FollowOptions {
  /** Opens a stream, without retries. */
  open(ending: AbortSignal): Promise<Response>
  signal: AbortSignal
  /** Address of the service, for errors. */
  address: string
  /** Called before each retry, with the milliseconds until it. */
  onRetry?: ((ms: number) => void) | undefined
}

/**
 * Yields every status, ending with the terminal one. Each stream ends with its window, or breaks.
 */
export async function* followStatus({
  open,
  signal,
  address,
  onRetry,
}: FollowOptions): AsyncGenerator<Status, void, void> {
  for (let attempts = 1; ; attempts += 1) {
    let waitMs = 0
    let hasFailed = false
    const silence = new TimeLimit({ signal, seconds: STREAM_SILENCE_SECONDS_MAX, address })
    try {
      const stream = await silence.limit(open(silence.signal))
      for await (const { name, data } of readEvents(timelyPieces(stream, silence))) {
        attempts = 0
        if (name === 'error') throw readError(data) ?? new Error(`stream error: ${data}`)
        if (name !== 'status') continue
        const status = JSON.parse(data) as Status
        yield status
        if (status.status === 'COMPLETED' || status.status === 'FAILED') return
      }
    } catch (error) {
      signal.throwIfAborted()
      const isFinal = error instanceof ApiError && !isTransient(error)
      if (isFinal || attempts >= STREAM_ATTEMPTS_MAX) throw error
      waitMs = retryAfterMs(error)
      hasFailed = true
    } finally {
      silence.release()
    }
    if (attempts >= STREAM_ATTEMPTS_MAX) throw new Error('The status stream ends without an event.')
    const pauseMs = Math.max(waitMs, STREAM_WAIT_MS * (attempts + 1))
    if (hasFailed) onRetry?.(pauseMs)
    await sleep(pauseMs, signal)
  }
}

const retryAfterMs = (error: unknown): number => {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0
  return 1_000 * Math.min(seconds, RETRY_AFTER_SECONDS_MAX)
}
