/**
 * Fetches media from addresses that clients name: only by a public route, including all redirects,
 * and within limits of time and size.
 */

import { isUtf8 } from 'node:buffer'
import contentDisposition from 'content-disposition'
import { withDeadline } from '../deadline.ts'
import { ServiceError } from '../errors.ts'
import { isTemporaryStatus, type HttpResponse } from './http-request.ts'
import {
  AUDIO_URL,
  createRouter,
  describeNetworkError,
  isTlsFault,
  parseUrl,
  type RouteOptions,
} from './public-route.ts'
import { saveBody } from './save-body.ts'

export interface PublicFetch {
  /**
   * Refuses a URL because of its text, or because its name has no public address. Only name servers
   * are contacted. If they do not answer in time, the URL passes, because a download checks it
   * again.
   * @throws ServiceError `INVALID_AUDIO_URL`; the signal's reason
   */
  check(url: string, options?: { signal?: AbortSignal | undefined }): Promise<void>
  /**
   * Writes the response from `url` to the file `path`; on failure no file is left.
   * @throws ServiceError `INVALID_AUDIO_URL`, `MEDIA_FETCH_FAILED`, and `PAYLOAD_TOO_LARGE` beyond
   *   `bytesMax`; the signal's reason
   */
  download(url: string, options: DownloadOptions): Promise<Download>
}

export interface DownloadOptions {
  path: string
  bytesMax: number
  /** Aborts the download, and is the only limit on its total time. */
  signal: AbortSignal
}

export interface Download {
  bytes: number
  /** The name from the server's Content-Disposition, without folders. */
  fileName: string | undefined
}

export type PublicFetchOptions = RouteOptions & { limits?: Partial<typeof LIMITS> }

const LIMITS = {
  connectMsMax: 10_000,
  firstByteMsMax: 20_000,
  /** Between two pieces of the body. */
  silenceMsMax: 30_000,
  /** For the DNS look-up of a check, which a submit waits for. */
  checkMsMax: 2_000,
}

/**
 * As many as browsers allow. Podcast links pass through up to a dozen services that count
 * listeners.
 */
const REDIRECTS_MAX = 20

/**
 * The registered codings that change bytes. Servers also state others that change nothing, such as
 * `aws-chunked`, `none` or a charset.
 */
const COMPRESSION = /^(x-)?(gzip|compress)$|^(deflate|br|zstd|dcb|dcz|exi|pack200-gzip|aes128gcm)$/

/** Headers of every request. Compressed bytes would evade the size limit, so none are asked for. */
const HEADERS = {
  accept: 'audio/*, video/*, */*;q=0.1',
  'accept-encoding': 'identity',
  'user-agent': 'Winnow',
}

const REDIRECT = 'The redirect target of audio_url'

/** Thrown if the address is valid, but its media could not be fetched. */
export class FetchFailedError extends ServiceError {
  /** Whether a retry may succeed. */
  readonly isTemporary: boolean
  constructor(message: string, { isTemporary = false, cause }: FailureOptions = {}) {
    super('MEDIA_FETCH_FAILED', { message, param: 'input.audio_url', cause })
    this.isTemporary = isTemporary
  }
}

interface FailureOptions {
  isTemporary?: boolean
  cause?: unknown
}

/** Creates the fetcher for a process; it holds no connections between calls. */
export function createPublicFetch(options: PublicFetchOptions): PublicFetch {
  const limits = { ...LIMITS, ...options.limits }
  const createRoute = createRouter(AUDIO_URL, options)

  async function follow(url: string, signal: AbortSignal) {
    let target = parseUrl(AUDIO_URL, url)
    for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
      const route = createRoute(target, hop === 0 ? undefined : REDIRECT)
      const response = await route
        .request({ headers: HEADERS, waits: limits, signal })
        .catch((error: unknown) => {
          throw fetchError(error)
        })
      const location = redirectOf(response)
      if (location === undefined) return checkResponse(response)
      response.body.destroy()
      target = parseUrl(AUDIO_URL, location, { subject: REDIRECT, base: target })
    }
    throw new FetchFailedError(`audio_url redirects more than ${REDIRECTS_MAX} times.`)
  }

  return {
    async check(url, { signal } = {}) {
      const route = createRoute(parseUrl(AUDIO_URL, url))
      const timeoutError = () => new Error('no name server has answered')
      try {
        await withDeadline({ ms: limits.checkMsMax, timeoutError, signal }, route.checkName)
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof ServiceError) throw error
      }
    },
    async download(url, { path, bytesMax, signal }) {
      try {
        const response = await follow(url, signal)
        const bytes = await saveBody(response, {
          path,
          bytesMax,
          signal,
          tooLarge: () => tooLarge(bytesMax),
          brokenOff: fetchError,
        })
        return { bytes, fileName: fileName(response) }
      } catch (error) {
        throw signal.aborted ? signal.reason : error
      }
    },
  }
}

const redirectOf = ({ statusCode, headers }: HttpResponse): string | undefined =>
  statusCode >= 300 && statusCode <= 399 && headers.location !== undefined
    ? headerText(headers.location)
    : undefined

/**
 * Decodes a header. Node reads headers as Latin-1, but most servers that send other characters mean
 * UTF-8.
 */
function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  return bytes.toString('latin1') === value && isUtf8(bytes) ? bytes.toString() : value
}

/**
 * Returns the response if it may be media. Content-Type is not checked, because servers often get
 * it wrong. Otherwise drops the body and throws an error that names the problem.
 */
function checkResponse(response: HttpResponse): HttpResponse {
  const fault = faultOf(response)
  if (!fault) return response
  response.body.destroy()
  throw fault
}

function faultOf(response: HttpResponse): ServiceError | undefined {
  const { statusCode, headers } = response
  if (statusCode < 200 || statusCode > 299) {
    const message = `The server at audio_url returned ${statusCode}; it must return media.`
    return new FetchFailedError(message, { isTemporary: isTemporaryStatus(statusCode) })
  }
  const codings = (headers['content-encoding'] ?? '').toLowerCase().split(',')
  if (!codings.some((coding) => COMPRESSION.test(coding.trim()))) return undefined
  return new FetchFailedError(
    'The server at audio_url returned compressed bytes although none were asked for.',
  )
}

function fileName({ headers }: HttpResponse): string | undefined {
  const name = dispositionName(headers['content-disposition'])
  return name?.split(/[/\\]/).at(-1)?.trim() || undefined
}

function dispositionName(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  try {
    const { filename } = contentDisposition.parse(header).parameters
    return filename && headerText(filename)
  } catch {
    return undefined // invalid by RFC 6266
  }
}

/** Returns the ServiceError for an error of the transfer; a ServiceError is returned unchanged. */
function fetchError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const isTemporary = !isTlsFault(error)
  return new FetchFailedError(`audio_url could not be fetched: ${describeNetworkError(error)}.`, {
    isTemporary,
    cause: error,
  })
}

const tooLarge = (bytesMax: number) =>
  new ServiceError('PAYLOAD_TOO_LARGE', {
    message: `The media at audio_url is larger than ${bytesMax} bytes.`,
    param: 'input.audio_url',
  })
