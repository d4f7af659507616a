/** Makes the calls of a client, with its key and time limit, and retries them. */

import type { components } from './api.ts'
import { call, callJson, originOf } from './call.ts'
import { ApiError } from './errors.ts'
import { followStatus } from './follow.ts'
import { secondsFor } from './one-call.ts'
import { retryCall } from './retry.ts'
import { sendBlob } from './send-blob.ts'
import { TIMEOUT_SECONDS, withTimeLimit, type TimeLimit } from './time-limit.ts'

type CreatedFile = components['schemas']['CreateFileResponse']

/** The bytes of a file. A function is called again for each retry. */
export type Bytes = Blob | AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>)

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8080`. */
  baseUrl: string
  apiKey: string | undefined
  /** Sent with every call of the API. */
  headers?: Readonly<Record<string, string>>
  /** Aborts all calls of the client. */
  signal?: AbortSignal
  /**
   * A call that gets no response in this time ends with `UnreachableError`, and so does a stalled
   * upload or download; default 30.
   */
  timeoutSeconds?: number
  /** Retries of a call that is refused temporarily or gets no response; default 3, 0 for none. */
  retries?: number
}

/** The default. */
export const RETRIES = 3
const JSON_TYPE = { 'content-type': 'application/json' }

interface CallBody {
  body?: object
  /** Replaces a JSON body. */
  form?: FormData
  /** Size of the form's media. */
  bytes?: number
  headers?: Record<string, string>
  /** Replaces the client's signal. */
  signal?: AbortSignal
  /** Whether it is safe to repeat a call that the service may already have served; default true. */
  isRepeatable?: boolean
}

export class Transport {
  readonly #options: ClientOptions
  readonly #signal: AbortSignal
  readonly #retries: number
  readonly #seconds: number

  constructor(options: ClientOptions) {
    const { signal = new AbortController().signal } = options
    const { retries = RETRIES, timeoutSeconds = TIMEOUT_SECONDS } = options
    this.#options = options
    this.#signal = signal
    this.#retries = retries
    this.#seconds = timeoutSeconds
  }

  /** Calls a path of the API, and returns the JSON of its response. */
  json<T>(method: string, path: string, options: CallBody = {}): Promise<T> {
    const { isRepeatable, signal = this.#signal, bytes } = options
    const { url, init } = this.#request(method, path, options)
    const limit = this.#limit(url, signal)
    if (bytes !== undefined) limit.seconds += secondsFor(bytes)
    return retryCall({ retries: this.#retries, signal, isRepeatable }, () =>
      withTimeLimit(limit, ({ signal }) => callJson<T>(url, { ...init, signal })),
    )
  }

  /** Follows the status streams at a path. */
  follow(path: string, onRetry?: (ms: number) => void) {
    const { url, init } = this.#request('GET', path)
    const open = (ending: AbortSignal) => call(url, { ...init, signal: ending })
    return followStatus({ open, signal: this.#signal, address: originOf(url), onRetry })
  }

  /** Opens a signed address. The client's signal also aborts the response's body. */
  open(url: string, headers: Record<string, string> = {}): Promise<Response> {
    const client = this.#signal
    return retryCall({ retries: this.#retries, signal: client }, () =>
      withTimeLimit(this.#limit(url), ({ signal }) =>
        call(url, { headers, signal: AbortSignal.any([client, signal]) }),
      ),
    )
  }

  /** @param onProgress receives the share of a blob that is sent, from 0 to 1 */
  async send(file: CreatedFile, bytes: Bytes, onProgress: (part: number) => void): Promise<void> {
    if (bytes instanceof Blob) {
      return this.#upload(file, this.#retries, ({ restart, signal }) =>
        sendBlob(file, bytes, {
          onProgress(part) {
            restart()
            onProgress(part)
          },
          signal,
        }),
      )
    }
    const isFunction = typeof bytes === 'function'
    const { upload_url: url, upload_method: method, headers } = file
    await this.#upload(file, isFunction ? this.#retries : 0, ({ restart, signal }) => {
      const body = streamOf(isFunction ? bytes() : bytes, restart)
      return call(url, { method, headers, body, duplex: 'half', signal } as RequestInit)
    })
  }

  /** Makes a DELETE call to a path of the API. */
  delete(path: string): Promise<void> {
    const { url, init } = this.#request('DELETE', path)
    const deleting = { url, retries: this.#retries, doneCode: 'NOT_FOUND' }
    return this.#do(deleting, ({ signal }) => call(url, { ...init, signal }))
  }

  /** @param put sends all bytes in one attempt */
  #upload(
    { upload_url: url }: CreatedFile,
    retries: number,
    put: (limit: TimeLimit) => Promise<unknown>,
  ): Promise<void> {
    return this.#do({ url, retries, doneCode: 'FILE_ALREADY_UPLOADED' }, put)
  }

  /**
   * @param doneCode error of a retry after an attempt that succeeded although its response was lost
   */
  #do(
    { url, retries, doneCode }: { url: string; retries: number; doneCode: string },
    work: (limit: TimeLimit) => Promise<unknown>,
  ): Promise<void> {
    return retryCall({ retries, signal: this.#signal }, async (tries) => {
      try {
        await withTimeLimit(this.#limit(url), work)
      } catch (error) {
        const isDone = error instanceof ApiError && error.code === doneCode
        if (tries === 1 || !isDone) throw error
      }
    })
  }

  #limit(url: string, signal = this.#signal) {
    return { signal, seconds: this.#seconds, address: originOf(url) }
  }

  #request(method: string, path: string, { body, form, headers }: CallBody = {}) {
    const { baseUrl, apiKey, headers: common } = this.#options
    const authorization: Record<string, string> =
      apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    const init: RequestInit = {
      method,
      headers: { ...common, ...authorization, ...headers, ...(body && JSON_TYPE) },
      ...(body && { body: JSON.stringify(body) }),
      ...(form && { body: form }),
    }
    return { url: baseUrl.replace(/\/+$/, '') + path, init }
  }
}

/**
 * Stands in for `ReadableStream.from`, which not every browser has.
 * @param onPiece is called for each piece
 */
function streamOf(
  pieces: AsyncIterable<Uint8Array>,
  onPiece: () => void,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await iterator.next()
      onPiece()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
