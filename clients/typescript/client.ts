/**
 * A client of a Winnow service: its HTTP API as functions, on web APIs alone, for browsers, Node,
 * Deno and Bun. `node.ts` adds what needs a file system.
 */

import type { components } from './api.ts'
import { call } from './call.ts'
import { ApiError, readError } from './errors.ts'
import { readEvents } from './event-stream.ts'
import { sendBlob } from './send-blob.ts'

export { contentTypeOf } from './content-type.ts'
export { ApiError, UnreachableError } from './errors.ts'
type Schemas = components['schemas']

export type CreateFile = Schemas['CreateFileRequest']
export type CreatedFile = Schemas['CreateFileResponse']
export type FileRecord = Schemas['File']
export type ModelList = Schemas['ModelList']
/** The body of a submit; what is absent has the service's default. */
export type Submission = Schemas['SubmitAudioSeparateRequest']
export type Submitted = Schemas['QueueSubmitResponse']
export type Status = Schemas['QueueStatusResponse']
export type Result = Schemas['QueueResultResponse']
export type OutputFile = Schemas['OutputFile']
/** One output in audiowaveform's JSON format: of each channel the least and greatest sample. */
export interface Waveform {
  version: 2
  channels: number
  sample_rate: number
  samples_per_pixel: number
  bits: 8
  length: number
  data: number[]
}
export interface Peaks {
  mixture: Waveform
  targets: Waveform[]
  residual: Waveform
}
export type RequestList = Schemas['RequestList']
export type WebhookDelivery = Schemas['WebhookDeliveryStatus']
export type Account = Schemas['Account']

/** A request, by its id or by anything that has it. */
export type RequestRef = string | { request_id: string }

export interface SubmitOptions {
  /**
   * 1 to 255 visible ASCII characters. For a day, the same key with the same submission answers
   * the same request: a submit whose answer was lost can be made again.
   */
  idempotencyKey?: string
}

export interface FollowOptions {
  /** Include the log lines. */
  logs?: boolean
  /** The status comes again after so long while nothing changes, 1 to 10; default 2. */
  intervalSeconds?: number
}

/** Media with the name and type that the service is to know it by. */
export interface NamedBlob {
  name: string
  contentType: string
  bytes: Blob
}

/** Every call may throw `ApiError`, when it is refused, and `UnreachableError`. */
export interface Client {
  models(): Promise<ModelList>
  /** Creates a file; `send` uploads its bytes. */
  createFile(file: CreateFile): Promise<CreatedFile>
  /** Sends the bytes of a file, exactly as many as it was created for, as a stream. */
  send(file: CreatedFile, bytes: AsyncIterable<Uint8Array> | Blob): Promise<void>
  file(fileId: string): Promise<FileRecord>
  /**
   * Creates a file and sends its bytes.
   * @param onProgress gets the part that is sent, from 0 to 1
   * @returns the file's id
   */
  uploadBlob(file: NamedBlob, onProgress?: (part: number) => void): Promise<string>
  submit(submission: Submission, options?: SubmitOptions): Promise<Submitted>
  status(request: RequestRef, options?: { logs?: boolean }): Promise<Status>
  /** Every status of a request, up to and with the terminal one; reconnects when it must. */
  follow(request: RequestRef, options?: FollowOptions): AsyncGenerator<Status, void, void>
  /**
   * Resolves with the result of a request once there is one.
   * @throws ApiError with the code of the failure when it fails, such as `NO_AUDIO_STREAM`
   */
  wait(request: RequestRef): Promise<Result>
  result(request: RequestRef): Promise<Result>
  /** What the outputs of a completed request are drawn from without decoding them. */
  peaks(request: RequestRef): Promise<Peaks>
  /** The answer of a signed address, such as `data.target.url`. */
  open(url: string): Promise<Response>
  /** Ends a request. Works also when the client's signal has fired. */
  cancel(request: RequestRef): Promise<Status>
  /** The requests of the key's account, newest first. */
  list(page?: { limit?: number; cursor?: string }): Promise<RequestList>
  /** Sends the webhook of a finished request again, with the same id and body. */
  redeliver(request: RequestRef): Promise<WebhookDelivery>
  /** The account that the key belongs to, with its balance. */
  account(): Promise<Account>
}

export interface ClientOptions {
  /** Such as `http://127.0.0.1:8080`. */
  baseUrl: string
  apiKey: string | undefined
  /** Sent with every call of the API. */
  headers?: Readonly<Record<string, string>>
  /** Aborts all calls of the client. */
  signal?: AbortSignal
}

/** Tries in a row to open a status stream that bring no event: enough for a service to restart. */
const STREAM_TRIES_MAX = 24
/** The pauses between them grow by so much, and make up 75 s. */
const STREAM_WAIT_MS = 250
/** Something comes every 10 s: a stream that is silent for longer has lost its connection. */
const STREAM_SILENCE_MS_MAX = 30_000
/** A longer `Retry-After` is not waited for. */
const RETRY_AFTER_SECONDS_MAX = 60
const CANCEL_MS_MAX = 5_000

export function createClient(options: ClientOptions): Client {
  const { signal = new AbortController().signal } = options
  const ask = createCaller({ ...options, signal })
  const json = async <T>(...call: Parameters<typeof ask>): Promise<T> =>
    (await (await ask(...call)).json()) as T
  const client: Client = {
    models: () => json('GET', '/v1/models'),
    createFile: (file) => json('POST', '/v1/files', { body: file }),
    file: (fileId) => json('GET', `/v1/files/${encodeURIComponent(fileId)}`),
    async send({ upload_url: url, upload_method: method, headers }, bytes) {
      const body = bytes instanceof Blob ? bytes : streamOf(bytes)
      await call(url, { method, headers, body, duplex: 'half', signal } as RequestInit)
    },
    async uploadBlob({ name, contentType, bytes }, onProgress = () => undefined) {
      const file = await client.createFile({
        file_name: name,
        content_type: contentType,
        file_size: bytes.size,
        purpose: 'audio.separate.input',
      })
      await sendBlob(file, bytes, { onProgress, signal })
      return file.file_id
    },
    submit: (submission, { idempotencyKey } = {}) =>
      json('POST', '/v1/queue/audio/separate', {
        body: submission,
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      }),
    status: (request, { logs = false } = {}) =>
      json('GET', `${pathOf(request)}/status?logs=${logs}`),
    follow(request, { logs = false, intervalSeconds } = {}) {
      const interval = intervalSeconds === undefined ? '' : `&interval=${intervalSeconds}`
      const path = `${pathOf(request)}/status/stream?logs=${logs}${interval}`
      return followStatus((ending) => ask('GET', path, { signal: ending }), signal)
    },
    async wait(request) {
      for await (const { status, error } of client.follow(request)) {
        if (status === 'FAILED' && error) throw new ApiError(error)
      }
      return client.result(request)
    },
    result: (request) => json('GET', `${pathOf(request)}/result`),
    peaks: (request) => json('GET', `${pathOf(request)}/peaks`),
    open: (url) => call(url, { signal }),
    cancel: (request) =>
      json('PUT', `${pathOf(request)}/cancel`, { signal: AbortSignal.timeout(CANCEL_MS_MAX) }),
    list: ({ limit = 20, cursor = '' } = {}) =>
      json('GET', `/v1/queue/requests?limit=${limit}&cursor=${encodeURIComponent(cursor)}`),
    redeliver: (request) => json('POST', `${pathOf(request)}/webhook/redeliver`),
    account: () => json('GET', '/v1/account'),
  }
  return client
}

function pathOf(request: RequestRef): string {
  const id = typeof request === 'string' ? request : request.request_id
  return `/v1/queue/requests/${encodeURIComponent(id)}`
}

const JSON_TYPE = { 'content-type': 'application/json' }

interface Given {
  body?: object
  headers?: Record<string, string>
  /** In place of the client's. */
  signal?: AbortSignal
}

/** A function that calls paths of the API with the key. */
function createCaller({
  baseUrl,
  apiKey,
  headers: common,
  signal,
}: ClientOptions & { signal: AbortSignal }) {
  const base = baseUrl.replace(/\/+$/, '')
  const authorization: Record<string, string> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return (method: string, path: string, { body, headers, signal: own = signal }: Given = {}) =>
    call(base + path, {
      method,
      headers: { ...common, ...authorization, ...headers, ...(body && JSON_TYPE) },
      ...(body && { body: JSON.stringify(body) }),
      signal: own,
    })
}

/** Reads status streams one after the other: each ends with its window, or breaks. */
async function* followStatus(
  open: (ending: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
): AsyncGenerator<Status, void, void> {
  for (let tries = 1; ; tries += 1) {
    let waitMs = 0
    const silence = new Silence(signal)
    try {
      const stream = await silence.limit(open(silence.signal))
      for await (const { name, data } of readEvents(piecesOf(stream, silence))) {
        tries = 0
        if (name === 'error') throw readError(data) ?? new Error(`stream error: ${data}`)
        if (name !== 'status') continue
        const status = JSON.parse(data) as Status
        yield status
        if (status.status === 'COMPLETED' || status.status === 'FAILED') return
      }
    } catch (error) {
      signal.throwIfAborted()
      if (isFinal(error) || tries >= STREAM_TRIES_MAX) throw error
      waitMs = retryAfterMs(error)
    } finally {
      silence.release()
    }
    if (tries >= STREAM_TRIES_MAX) throw new Error('The status stream ends without an event.')
    await sleep(Math.max(waitMs, STREAM_WAIT_MS * (tries + 1)), signal)
  }
}

/** Whether the service refused the call, rather than being unreachable or overloaded. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && !((error.status ?? 0) >= 500 || error.status === 429)

const retryAfterMs = (error: unknown): number => {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0
  return 1_000 * Math.min(seconds, RETRY_AFTER_SECONDS_MAX)
}

/** `ReadableStream.from`, which not every browser has. */
function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

/** Ends what a stream is asked for when nothing comes, as may be for ever on a lost connection. */
class Silence {
  readonly #ending = new AbortController()
  readonly #client: AbortSignal
  readonly #follow = () => this.#ending.abort(this.#client.reason)
  /** Fires when what is limited takes too long, or the client's signal does. */
  readonly signal = this.#ending.signal

  constructor(client: AbortSignal) {
    client.throwIfAborted()
    this.#client = client
    client.addEventListener('abort', this.#follow)
  }

  release(): void {
    this.#client.removeEventListener('abort', this.#follow)
  }

  /** @throws Error, and aborts, when `work` takes longer than a stream is ever silent */
  limit<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const silent = new Error(`silent for ${STREAM_SILENCE_MS_MAX / 1_000} s`)
        reject(silent)
        this.#ending.abort(silent)
      }, STREAM_SILENCE_MS_MAX)
      work.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }
}

/** The pieces of a body: not every browser iterates over a stream. */
async function* piecesOf(
  { body }: Response,
  silence: Silence,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body?.getReader()
  if (!reader) return
  try {
    for (;;) {
      const { value, done } = await silence.limit(reader.read())
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined) // it may have broken
  }
}

/** Resolves after `ms`. @throws the reason of the signal when it fires before */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort, { once: true })
  })
}
