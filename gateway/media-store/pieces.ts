/** Reads the body of an upload within its limits of length and time. */

import type { Readable } from 'node:stream'
import { ServiceError } from '../../shared/errors.ts'
import type { StageLimits } from './media-store.ts'

/** A refused body stays open, so that the response can still be sent. */
const KEEP_OPEN = { destroyOnReturn: false }

/**
 * Yields the pieces of `body`.
 * @throws ServiceError if it is too long, too short or silent for too long; the signal's reason
 */
export async function* piecesOf(body: Readable, limits: StageLimits): AsyncGenerator<Buffer> {
  const { bytes: exact, bytesMax } = limits
  let bytes = 0
  for await (const piece of timelyPieces(body, limits)) {
    bytes += piece.length
    if (exact !== undefined && bytes > exact) throw tooLarge(exact, 'file_size')
    if (bytesMax !== undefined && bytes > bytesMax) throw tooLarge(bytesMax, 'one file')
    limits.onPiece?.(piece)
    yield piece
  }
  if (exact !== undefined && bytes < exact) throw tooSmall(bytes, exact)
}

/**
 * Yields the pieces of `body`. Throws if nothing arrives for too long, and as soon as the signal
 * aborts, even while nothing arrives.
 */
async function* timelyPieces(
  body: Readable,
  { silentMsMax, signal }: StageLimits,
): AsyncGenerator<Buffer> {
  const pieces = body.iterator(KEEP_OPEN) as AsyncIterator<Buffer>
  let fail: (error: Error) => void = () => undefined
  const timer = setTimeout(() => fail(tooSilent(silentMsMax)), silentMsMax)
  const stop = () => fail(signal.reason as Error)
  signal.addEventListener('abort', stop)
  try {
    for (;;) {
      signal.throwIfAborted()
      timer.refresh()
      const { done, value } = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        fail = reject
        pieces.next().then(resolve, reject)
      })
      if (done) return
      yield value
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

const tooSilent = (ms: number) =>
  new ServiceError('INVALID_REQUEST', {
    message: `No data received for ${ms / 1_000} seconds; send it again.`,
  })

const tooLarge = (bytesMax: number, what: string) =>
  new ServiceError('PAYLOAD_TOO_LARGE', {
    message: `The body is larger than the ${bytesMax} bytes of ${what}.`,
  })

const tooSmall = (bytes: number, fileSize: number) =>
  new ServiceError('INVALID_REQUEST', {
    message: `The body ended after ${bytes} bytes; file_size is ${fileSize}.`,
  })
