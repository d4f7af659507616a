/**
 * Downloads a job's source to a local file, from the gateway's signed address or from a client's.
 */

import { rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ServiceError } from '../../../shared/errors.ts'
import { COPY_NAME, FOLDER_HEADER } from '../../../shared/hand-over.ts'
import { isTemporaryStatus, request } from '../../../shared/http/http-request.ts'
import {
  FetchFailedError,
  type Download,
  type PublicFetch,
} from '../../../shared/http/public-fetch.ts'
import { saveBody } from '../../../shared/http/save-body.ts'
import { TransientError, RETRY_POLICY, waitsOf, withRetries, type RetryPolicy } from '../retry.ts'

export interface SourceOptions {
  url: string
  path: string
  bytesMax: number
  signal: AbortSignal
  retryPolicy?: RetryPolicy
  /** Called after each failure to reach the source. */
  onUnavailable?: () => void
  /**
   * The job folder's name on a disk shared with the gateway. If set, the gateway may copy the file
   * there instead of sending it.
   */
  folderName?: string | undefined
}

/** The source could not be fetched now; a retry, or another engine, may succeed. */
export class SourceUnavailableError extends TransientError {}

/**
 * Writes the response of `url` to the file `path`, starting over with each retry. After a failure
 * there is no file.
 * @returns the bytes written
 * @throws ServiceError MEDIA_FETCH_FAILED if it does not exist, or is larger than `bytesMax`
 * @throws SourceUnavailableError if it could not be fetched now
 */
export async function fetchSource(options: SourceOptions): Promise<number> {
  const { signal, retryPolicy = RETRY_POLICY, onUnavailable } = options
  try {
    return await withRetries(() => fetchOnce(options, retryPolicy), retryPolicy, signal, {
      onUnavailable,
    })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

export interface PublicSourceOptions extends SourceOptions {
  /** For all retries together. */
  secondsMax: number
}

/**
 * Like `fetchSource`, for a client's URL: it uses `publicFetch`, and if its retries run out, the
 * request fails instead of passing to another engine.
 * @throws ServiceError INVALID_AUDIO_URL, MEDIA_FETCH_FAILED, PAYLOAD_TOO_LARGE
 */
export async function fetchPublicSource(
  { download }: Pick<PublicFetch, 'download'>,
  options: PublicSourceOptions,
): Promise<Download> {
  const { url, path, bytesMax, secondsMax, signal, retryPolicy = RETRY_POLICY } = options
  const deadline = AbortSignal.timeout(secondsMax * 1_000)
  const combinedSignal = AbortSignal.any([signal, deadline])
  const tryOnce = () => download(url, { path, bytesMax, signal: combinedSignal })
  try {
    return await withRetries(tryOnce, retryPolicy, combinedSignal, { isTransient })
  } catch (error) {
    signal.throwIfAborted()
    if (!deadline.aborted) throw error
    throw fetchFailed(`The media at audio_url took longer than ${secondsMax} s to fetch.`)
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof FetchFailedError && error.isTemporary

async function fetchOnce(
  { url, path, bytesMax, signal, folderName }: SourceOptions,
  retryPolicy: RetryPolicy,
): Promise<number> {
  const headers: Record<string, string> = folderName ? { [FOLDER_HEADER]: folderName } : {}
  const waits = waitsOf(retryPolicy)
  const response = await request(new URL(url), { signal, waits, headers }).catch(
    (error: unknown) => {
      throw unavailable(error)
    },
  )
  const { statusCode: status } = response
  if (status === 204 && folderName !== undefined) {
    response.body.destroy()
    await rename(join(dirname(path), COPY_NAME), path)
    return (await stat(path)).size
  }
  if (status !== 200) {
    response.body.destroy()
    if (isTemporaryStatus(status)) throw new SourceUnavailableError(`the source returned ${status}`)
    throw fetchFailed(`The media could not be fetched: its server returned ${status}.`)
  }
  return saveBody(response, {
    path,
    bytesMax,
    signal,
    brokenOff: unavailable,
    tooLarge: () => fetchFailed(`The media is larger than ${bytesMax} bytes.`),
  })
}

const unavailable = (cause: unknown) =>
  new SourceUnavailableError('the source could not be reached, or broke off', { cause })

const fetchFailed = (message: string) => new ServiceError('MEDIA_FETCH_FAILED', { message })
