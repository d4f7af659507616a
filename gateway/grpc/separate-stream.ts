/** Reads the messages of a Separate call: its options, then its file piece by piece. */

import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { withDeadline } from '../../shared/deadline.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { CallFile, SeparationCall } from '../requests/separate.ts'
import { submitBody, type SeparateOptions, type SeparateRequest } from './messages.ts'

/** Enough for the longest file in pieces of 6 KiB. */
const MESSAGES_MAX = 100_000

type Options = Pick<SeparationCall, 'kind' | 'body' | 'metadataText' | 'file' | 'waitSeconds'>

/**
 * Reads a call up to the bytes of its file.
 * @param secondsMax time for the options to arrive, or without a file for the whole call
 * @throws ServiceError `INVALID_REQUEST` for messages that are out of order or too late; the
 *   signal's reason
 */
export async function readSeparate(
  messages: Readable,
  { secondsMax, signal }: { secondsMax: number; signal: AbortSignal },
): Promise<Options> {
  const pieces = new Pieces()
  pieces.on('error', () => undefined) // whoever reads the pieces gets the error
  signal.addEventListener('abort', () => pieces.destroy(signal.reason), { once: true })
  messages.pipe(pieces)
  const timeoutError = () =>
    invalid(`The call is incomplete after ${secondsMax} seconds; make it again.`)
  return withDeadline({ ms: 1_000 * secondsMax, timeoutError, signal }, async (deadline) => {
    deadline.addEventListener('abort', () => pieces.destroy(deadline.reason), { once: true })
    const { submit, file, wait_seconds: waitSeconds = 0 } = await pieces.options
    if (!submit) throw invalid('The options have no submit.', 'submit')
    if (!file) await assertNone(pieces)
    const fields = submitBody(submit)
    const end = async () => fields
    return { ...fields, waitSeconds, file: file ? { ...fileOf(file, pieces), end } : undefined }
  })
}

const fileOf = (
  { name, content_type: contentType, size }: NonNullable<SeparateOptions['file']>,
  body: Readable,
): Omit<CallFile, 'end'> => ({ name, contentType, body, bytes: size, bytesMax: size })

async function assertNone(pieces: Readable): Promise<void> {
  for await (const _ of pieces) {
    throw invalid('A file came, but the options have none.', 'file')
  }
}

/** Turns messages into the bytes of the file. */
class Pieces extends Transform {
  readonly options: Promise<SeparateOptions>
  #begin: (options: SeparateOptions) => void = () => undefined
  #refuse: (error: Error) => void = () => undefined
  #messages = 0

  constructor() {
    super({ writableObjectMode: true, writableHighWaterMark: 1 })
    this.options = new Promise((resolve, reject) => {
      this.#begin = resolve
      this.#refuse = reject
    })
    this.options.catch(() => undefined) // whoever reads the call gets the error
  }

  override _transform(
    { options, piece }: SeparateRequest,
    _encoding: unknown,
    done: TransformCallback,
  ): void {
    this.#messages += 1
    if (this.#messages === 1) {
      if (!options) return done(invalid('The first message must have options.', 'options'))
      this.#begin(options)
      return done()
    }
    if (!piece) return done(invalid('Each message after the first must have a piece.', 'piece'))
    if (this.#messages > MESSAGES_MAX) return done(tooMany())
    done(null, piece)
  }

  override _flush(done: TransformCallback): void {
    done(this.#messages === 0 ? invalid('The call has no message.', 'options') : null)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (error) this.#refuse(error)
    done(error)
  }
}

const invalid = (message: string, param?: string) =>
  new ServiceError('INVALID_REQUEST', { message, ...(param !== undefined && { param }) })

const tooMany = () =>
  new ServiceError('PAYLOAD_TOO_LARGE', {
    message: `The file came in more than ${MESSAGES_MAX} messages; send longer pieces.`,
  })
