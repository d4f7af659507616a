/**
 * Sends answers while the request is still arriving. A connection that is closed with unread bytes
 * is reset, and the reset may overtake the answer, because many clients read the answer only after
 * sending everything. So the rest of the request is read and thrown away, within limits, as web
 * servers do.
 */

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

/** Somewhat more than the largest upload. */
const BYTES_MAX = 2 ** 29
const MS_MAX = 30_000
/** A client that sends nothing for this long has read the answer, or never will. */
const SILENT_MS_MAX = 1_000

/**
 * Returns `answer` as a stream that ends when the rest of the request has arrived, or a limit is
 * reached.
 */
export const earlyAnswer = (answer: string, request: IncomingMessage): Readable =>
  Readable.from(answerAndDiscard(answer, request))

async function* answerAndDiscard(answer: string, request: IncomingMessage) {
  yield Buffer.from(answer)
  if (request.readableEnded || request.destroyed) return
  let bytes = 0
  await new Promise<void>((resolve) => {
    const stop = () => {
      clearTimeout(total)
      clearTimeout(silence)
      resolve()
    }
    const total = setTimeout(stop, MS_MAX)
    const silence = setTimeout(stop, SILENT_MS_MAX)
    request.on('data', ({ length }: Buffer) => {
      silence.refresh()
      bytes += length
      if (bytes > BYTES_MAX) stop()
    })
    request.once('end', stop).once('close', stop).once('error', stop).resume()
  })
}
