/** Sends an output file to its signed address: the gateway's, or a bucket's. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isTemporaryStatus, request } from '../../shared/http/http-request.ts'
import { FILE_BYTES_AHEAD } from '../../shared/http/save-body.ts'
import { AwayError, LONG_PATIENCE, waitsOf, withRetries, type Patience } from './retry.ts'

export interface UploadOptions {
  url: string
  path: string
  contentType: string
  signal: AbortSignal
  patience?: Patience
  /** Called after each try that fails because the store is away. */
  onAway?: () => void
}

/** The file could not be taken now. */
export class UploadAwayError extends AwayError {}

/** The request has already ended: whatever this job makes comes too late. */
export class UploadRefusedError extends Error {
  constructor() {
    super('the request has already ended: its output is not taken')
    this.name = 'UploadRefusedError'
  }
}

/**
 * PUTs the file, from the start on each try. The work is done: a store that is away is waited for.
 * @throws UploadRefusedError when the request has ended
 * @throws UploadAwayError when it could not be sent now
 * @throws Error when the address is refused
 */
export async function uploadOutput(options: UploadOptions): Promise<void> {
  const { signal, patience = LONG_PATIENCE, onAway } = options
  const { size } = await stat(options.path)
  try {
    await withRetries(() => uploadOnce(options, size, patience), patience, signal, { onAway })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

async function uploadOnce(
  { url, path, contentType, signal }: UploadOptions, size: number, patience: Patience,
): Promise<void> {
  const file = createReadStream(path, { highWaterMark: FILE_BYTES_AHEAD })
  const answer = await request(new URL(url), {
    method: 'PUT',
    headers: {
      'content-type': contentType,
      'content-length': String(size),
      'connection': 'keep-alive', // else an early answer may be lost: its sender hangs up at once
    },
    body: file,
    waits: waitsOf(patience),
    signal,
  }).catch((cause: unknown) => {
    throw new UploadAwayError('the media store could not be reached, or broke off', { cause })
  }).finally(() => file.destroy())
  answer.body.destroy() // what it says is of no use
  const status = answer.statusCode
  if (status >= 200 && status <= 299) return
  if (status === 409) throw new UploadRefusedError()
  if (isTemporaryStatus(status)) throw new UploadAwayError(`the media store answered ${status}`)
  throw new Error(`the media store refused an output: it answered ${status}`)
}
