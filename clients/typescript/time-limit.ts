/** Aborts work on a connection that is silent for too long, since a lost one may be so forever. */

import { UnreachableError } from './errors.ts'

/** The default. */
export const TIMEOUT_SECONDS = 30

export interface TimeLimitOptions {
  /** The client's signal; when it fires, so does the limit's. */
  signal: AbortSignal
  seconds: number
  /** Address of the peer, for the error. */
  address: string
}

export class TimeLimit {
  readonly #options: TimeLimitOptions
  readonly #ending = new AbortController()
  readonly #follow = () => this.#ending.abort(this.#options.signal.reason)
  #late: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Fires when the work takes too long, or the client's signal does. */
  readonly signal: AbortSignal = this.#ending.signal

  constructor(options: TimeLimitOptions) {
    options.signal.throwIfAborted()
    this.#options = options
    options.signal.addEventListener('abort', this.#follow)
  }

  /** Must be called after the last use. */
  release(): void {
    this.#options.signal.removeEventListener('abort', this.#follow)
  }

  /** Restarts the timer, because data has arrived or left. */
  readonly restart = (): void => {
    clearTimeout(this.#timer)
    if (this.#late) this.#timer = setTimeout(this.#late, 1_000 * this.#options.seconds)
  }

  /** @throws UnreachableError, and aborts, if `work` takes longer */
  limit<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#late = () => {
        const { seconds, address } = this.#options
        const error = new UnreachableError(address, undefined, `did not respond for ${seconds} s`)
        reject(error)
        this.#ending.abort(error)
      }
      this.restart()
      work.then(resolve, reject).finally(() => {
        clearTimeout(this.#timer)
        this.#late = undefined
      })
    })
  }
}

/**
 * Runs `work` within one limit.
 * @throws as `TimeLimit.limit`, and what `work` throws
 */
export async function withTimeLimit<T>(
  options: TimeLimitOptions,
  work: (limit: TimeLimit) => Promise<T>,
): Promise<T> {
  const limit = new TimeLimit(options)
  try {
    return await limit.limit(work(limit))
  } finally {
    limit.release()
  }
}

/**
 * Yields the pieces of a body, each within the limit. Not every browser can iterate over a stream.
 */
export async function* timelyPieces(
  { body }: Response,
  limit: TimeLimit,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { value, done } = await limit.limit(reader.read())
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined) // it may have broken
  }
}
