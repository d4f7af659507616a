/** Sends an output file to its signed address, at the gateway or in a bucket. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import {
  isTemporaryStatus,
  request,
  type HttpResponse,
  type RequestOptions,
} from '../../../shared/http/http-request.ts'
import { FILE_BYTES_AHEAD } from '../../../shared/http/save-body.ts'
import { ATTEMPT_HEADER, isPlace, PLACE_HEADER } from '../../../shared/output-places.ts'
import {
  LONG_RETRY_POLICY,
  TransientError,
  waitsOf,
  withRetries,
  type RetryPolicy,
} from '../retry.ts'

export interface UploadOptions {
  url: string
  path: string
  contentType: string
  /** The attempt that made the file. */
  attemptId: string
  signal: AbortSignal
  retryPolicy?: RetryPolicy
  /** Called after each failure to reach the store. */
  onUnavailable?: () => void
  /** Asks the gateway to keep the file itself; null if it cannot, so that the bytes are sent. */
  handOver?: (() => Promise<UploadResponse | null>) | undefined
}

/** The store could not accept the file now. */
export class UploadUnavailableError extends TransientError {}

/** The request has already ended, so the outputs of this job are not needed. */
export class UploadRefusedError extends Error {
  constructor() {
    super('the request has already ended: its output is not taken')
    this.name = 'UploadRefusedError'
  }
}

/**
 * Hands the file over, or PUTs it, starting over with each retry. Waits for an unreachable store,
 * because the work is already done.
 * @returns where the gateway keeps it; undefined if there is only one place, as in a bucket
 * @throws UploadRefusedError if the request has ended
 * @throws UploadUnavailableError if it could not be sent now
 */
export async function uploadOutput(options: UploadOptions): Promise<string | undefined> {
  const { signal, retryPolicy = LONG_RETRY_POLICY, onUnavailable } = options
  try {
    const upload = () => uploadOnce(options, retryPolicy)
    return await withRetries(upload, retryPolicy, signal, { onUnavailable })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

async function uploadOnce(
  options: UploadOptions,
  retryPolicy: RetryPolicy,
): Promise<string | undefined> {
  const handedOver = await options.handOver?.()
  const { status, place } = handedOver ?? (await putBytes(options, retryPolicy))
  if (status >= 200 && status <= 299) return place
  if (status === 409) throw new UploadRefusedError()
  if (isTemporaryStatus(status)) {
    throw new UploadUnavailableError(`the media store returned ${status}`)
  }
  throw new Error(`the media store refused an output: it returned ${status}`)
}

async function putBytes(
  { url, path, contentType, attemptId, signal }: UploadOptions,
  retryPolicy: RetryPolicy,
): Promise<UploadResponse> {
  const { size } = await stat(path)
  const file = createReadStream(path, { highWaterMark: FILE_BYTES_AHEAD })
  return send(url, {
    method: 'PUT',
    headers: {
      'content-type': contentType,
      'content-length': String(size),
      [ATTEMPT_HEADER]: attemptId,
      // otherwise an early response could be lost, because its sender closes the connection at once
      connection: 'keep-alive',
    },
    body: file,
    retryPolicy,
    signal,
  }).finally(() => file.destroy())
}

export interface UploadResponse {
  status: number
  place: string | undefined
}

type SendOptions = Omit<RequestOptions, 'waits'> & { retryPolicy: RetryPolicy }

/** @throws UploadUnavailableError if nobody responds */
export async function send(
  url: string,
  { retryPolicy, ...sent }: SendOptions,
): Promise<UploadResponse> {
  const options = { ...sent, waits: waitsOf(retryPolicy) }
  const response = await request(new URL(url), options).catch((cause: unknown) => {
    const message = 'the media store could not be reached, or broke off'
    throw new UploadUnavailableError(message, { cause })
  })
  response.body.destroy()
  return { status: response.statusCode, place: placeIn(response) }
}

function placeIn({ headers }: HttpResponse): string | undefined {
  const { [PLACE_HEADER]: place } = headers
  return isPlace(place) ? place : undefined
}
