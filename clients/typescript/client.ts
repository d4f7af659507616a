/**
 * A client of a Winnow service: its HTTP API as functions. Uses only web APIs, for browsers, Node,
 * Deno and Bun; `node.ts` adds what needs a file system.
 */

import type { components } from './api.ts'
import { ask, promptsOf, type NamedBlob, type OnProgress } from './ask.ts'
import { ApiError } from './errors.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { WAIT_SECONDS } from './one-call.ts'
import type { Peaks } from './peaks.ts'
import { monotonicProgress } from './send-blob.ts'
import { Transport, type Bytes, type ClientOptions } from './transport.ts'

export { contentTypeOf } from './content-type.ts'
export { ApiError, UnreachableError } from './errors.ts'
export type { NamedBlob, OnProgress } from './ask.ts'
export type { Peaks, PreviewIndex, Waveform } from './peaks.ts'
export type { Bytes, ClientOptions } from './transport.ts'
type Schemas = components['schemas']

export type CreateFile = Schemas['CreateFileRequest']
export type CreatedFile = Schemas['CreateFileResponse']
export type FileRecord = Schemas['File']
export type FileList = Schemas['FileList']
export type ModelList = Schemas['ModelList']
/** The body of a submit; absent fields have the service's defaults. */
export type Submission = Schemas['SubmitAudioSeparateRequest']
export type Submitted = Schemas['QueueSubmitResponse']
export type Status = Schemas['QueueStatusResponse']
export type Result = Schemas['QueueResultResponse']
/** The body of a submit that asks for a list of sounds. */
export type SoundsSubmission = Schemas['SubmitAudioSoundsRequest']
/** The list of sounds in media. */
export type SoundsResult = Schemas['SoundsResultResponse']
export type HeardSound = Schemas['HeardSound']
export type OutputFile = Schemas['OutputFile']
/** What can be played of a request while the rest is still separated. */
export type LivePreview = Schemas['LivePreview']
export type RequestList = Schemas['RequestList']
export type WebhookDelivery = Schemas['WebhookDeliveryStatus']
export type DeliveryAttempts = Schemas['DeliveryAttemptList']
/** A webhook receiver to test, and the secret that signs the event. */
export type WebhookTest = Schemas['WebhookTestRequest']
export type WebhookTestResult = Schemas['WebhookTestResult']
export type Account = Schemas['Account']
export type Usage = Schemas['Usage']
export type NewShare = Schemas['NewShare']
export type ShareList = Schemas['ShareList']
export type SharedResult = Schemas['SharedResult']

/** A request: its id, or any object that contains it. */
export type RequestRef = string | { request_id: string }

export interface SubmitOptions {
  /**
   * 1 to 255 visible ASCII characters. For a day, the same key with the same submission returns the
   * same request, so a submit whose response was lost can be repeated. By default each call has its
   * own key, so that its retries submit only once.
   */
  idempotencyKey?: string
}

/** The fields of a submit other than its media and prompts; absent ones have their defaults. */
export interface SeparateOptions extends SubmitOptions, Partial<Omit<Submission, 'input'>> {
  input?: Omit<Submission['input'], 'prompt' | 'prompts' | 'file_id' | 'audio_url' | 'request_id'>
}

/** The fields of such a submit other than its media; absent ones have their defaults. */
export interface SoundsOptions extends SubmitOptions, Partial<Omit<SoundsSubmission, 'input'>> {
  input?: Pick<SoundsSubmission['input'], 'audio_track'>
}

export interface PageOptions {
  limit?: number
  /** `next_cursor` of the previous page. */
  cursor?: string
}

export interface ListOptions extends PageOptions {
  /** Only requests with this status. */
  status?: Status['status']
  /** Only separations, or only lists of sounds. */
  model?: Status['model']
  /** Only requests created at this time or later: a date, or text as `2026-01-31T12:00:00Z`. */
  createdFrom?: Date | string
  /** Only requests created before this time. */
  createdBefore?: Date | string
}

export interface UsageOptions {
  /** The first day, such as `2026-01-31`; 29 days before the last one by default. */
  from?: string
  /** The last day; today by default. */
  to?: string
}

export interface FollowOptions {
  /** Include the log lines. */
  logs?: boolean
  /** How often the status is repeated while nothing changes, 1 to 10; default 2. */
  intervalSeconds?: number
  /** Called when the service does not respond, with the milliseconds until the next attempt. */
  onRetry?: (ms: number) => void
}

/**
 * Every call may throw `ApiError` if the service refuses it, and `UnreachableError` if the service
 * does not respond. It first retries temporary refusals (429, 5xx) and missing responses.
 */
export interface Client {
  models(): Promise<ModelList>
  /** Creates a file; `send` uploads its bytes. */
  createFile(file: CreateFile): Promise<CreatedFile>
  /**
   * Sends the bytes of a file, exactly as many as it was created for. An iterable can only be read
   * once, so it is not retried.
   */
  send(file: CreatedFile, bytes: Bytes): Promise<void>
  file(fileId: string): Promise<FileRecord>
  /** Lists the files of the key's account, newest first. */
  listFiles(page?: PageOptions): Promise<FileList>
  /** Deletes a file, uploaded or not, unless an unfinished request needs it. */
  deleteFile(fileId: string): Promise<void>
  /**
   * Creates a file and sends its bytes.
   * @param onProgress receives the share that is sent, from 0 to 1
   * @returns the file's id
   */
  uploadBlob(file: NamedBlob, onProgress?: OnProgress): Promise<string>
  /**
   * Separates one or several sounds from media, in one call up to 32 MiB.
   * @returns the result, once it is complete
   * @throws ApiError with the code of the failure if it fails, such as `NO_AUDIO_STREAM`
   */
  separate(
    media: NamedBlob,
    prompt: string | readonly string[],
    options?: SeparateOptions,
  ): Promise<Result>
  /**
   * Like `separate`, but resolves once the request is accepted, to `follow` it.
   * @param onProgress receives the share that is sent, from 0 to 1, of media above 32 MiB
   */
  begin(
    media: NamedBlob,
    prompt: string | readonly string[],
    options?: SeparateOptions,
    onProgress?: OnProgress,
  ): Promise<Submitted>
  submit(submission: Submission, options?: SubmitOptions): Promise<Submitted>
  /**
   * Lists the sounds in media, in one call up to 32 MiB.
   * @returns the list, once it is complete
   * @throws ApiError with the code of the failure if it fails, such as `NO_AUDIO_STREAM`
   */
  sounds(media: NamedBlob, options?: SoundsOptions): Promise<SoundsResult>
  /** Like `submit`, for a list of sounds. */
  submitSounds(submission: SoundsSubmission, options?: SubmitOptions): Promise<Submitted>
  status(request: RequestRef, options?: { logs?: boolean }): Promise<Status>
  /** Yields every status of a request, ending with the terminal one; reconnects if necessary. */
  follow(request: RequestRef, options?: FollowOptions): AsyncGenerator<Status, void, void>
  /**
   * Waits for the result of a separation.
   * @throws ApiError with the code of the failure if it fails, such as `NO_AUDIO_STREAM`
   */
  wait(request: RequestRef): Promise<Result>
  /** Like `wait`, for a list of sounds. */
  waitForSounds(request: RequestRef): Promise<SoundsResult>
  result(request: RequestRef): Promise<Result>
  /** Returns peaks of a completed request's outputs, to draw them without decoding. */
  peaks(request: RequestRef): Promise<Peaks>
  /** Returns what is separated so far of a request whose status has `preview_seconds`. */
  livePreview(request: RequestRef): Promise<LivePreview>
  /**
   * Opens a signed address, such as `data.target.url`.
   * @param headers such as `range`
   */
  open(url: string, headers?: Record<string, string>): Promise<Response>
  /** Cancels a request, even after the client's signal has fired. */
  cancel(request: RequestRef): Promise<Status>
  /** Deletes a request and its outputs; an unfinished one is canceled first. Its file is kept. */
  delete(request: RequestRef): Promise<void>
  /**
   * Renames a request, and so its outputs.
   * @param name 1 to 255 characters
   */
  rename(request: RequestRef, name: string): Promise<void>
  /** Lists the requests of the key's account, newest first. */
  list(options?: ListOptions): Promise<RequestList>
  /** Sends the webhook of a finished request again, with the same id and body. */
  redeliver(request: RequestRef): Promise<WebhookDelivery>
  /**
   * Makes an address that plays the result without a key.
   * @param options its lifetime: 60 to 604,800 seconds; default one day
   */
  share(request: RequestRef, options?: { expiresInSeconds?: number }): Promise<NewShare>
  /** Lists the active shares of the key's account, newest first. */
  shares(): Promise<ShareList>
  revokeShare(shareId: string): Promise<void>
  /** Returns the shared result, for a client whose `apiKey` is the secret of a share. */
  shared(): Promise<SharedResult>
  /** Lists the attempts to deliver a request's webhook, oldest first. */
  deliveryAttempts(request: RequestRef): Promise<DeliveryAttempts>
  /** Posts a test event to a webhook receiver, once, and returns the outcome. */
  testWebhook(receiver: WebhookTest): Promise<WebhookTestResult>
  /** Returns the account of the key, with its balance. */
  account(): Promise<Account>
  /** Returns the account's usage by day. */
  usage(days?: UsageOptions): Promise<Usage>
}

const CANCEL_MS_MAX = 5_000
/** Default number of entries on a page of a list. */
const PAGE = 20

export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options)
  const files = fileCalls(transport)
  const requests = requestCalls(transport)
  return {
    ...files,
    ...requests,
    ...questionCalls({ transport, ...files }, requests),
    ...accountCalls(transport),
  }
}

type FileCalls = Pick<
  Client,
  'createFile' | 'send' | 'uploadBlob' | 'file' | 'listFiles' | 'deleteFile' | 'open'
>

function fileCalls(transport: Transport): FileCalls {
  const calls: FileCalls = {
    createFile: (file) => transport.json('POST', '/v1/files', { body: file }),
    send: (file, bytes) => transport.send(file, bytes, () => undefined),
    async uploadBlob({ name, contentType, bytes }, onProgress = () => undefined) {
      const file = await calls.createFile({
        file_name: name,
        content_type: contentType,
        file_size: bytes.size,
        purpose: 'audio.separate.input',
      })
      await transport.send(file, bytes, monotonicProgress(onProgress))
      return file.file_id
    },
    file: (fileId) => transport.json('GET', filePathOf(fileId)),
    listFiles: ({ limit = PAGE, cursor = '' } = {}) =>
      transport.json('GET', `/v1/files${queryOf({ limit, cursor })}`),
    deleteFile: (fileId) => transport.delete(filePathOf(fileId)),
    open: (url, headers) => transport.open(url, headers),
  }
  return calls
}

type AccountCalls = Pick<Client, 'account' | 'usage' | 'models' | 'testWebhook'>

const accountCalls = (transport: Transport): AccountCalls => ({
  account: () => transport.json('GET', '/v1/account'),
  usage: (days = {}) => transport.json('GET', `/v1/account/usage${queryOf({ ...days })}`),
  models: () => transport.json('GET', '/v1/models'),
  testWebhook: (receiver) =>
    // Without a response, the event may still have been posted.
    transport.json('POST', '/v1/webhook-test', { body: receiver, isRepeatable: false }),
})

type QuestionCalls = Pick<Client, 'separate' | 'begin' | 'submit' | 'sounds' | 'submitSounds'>

/** The calls that submit a request for media. */
function questionCalls(
  sender: { transport: Transport } & Pick<FileCalls, 'uploadBlob'>,
  { wait, waitForSounds }: Pick<RequestCalls, 'wait' | 'waitForSounds'>,
): QuestionCalls {
  const separation = (
    prompt: string | readonly string[],
    { idempotencyKey, input, ...top }: SeparateOptions = {},
  ) => ({
    kind: 'separate' as const,
    submission: { ...top, input: { ...input, ...promptsOf(prompt) } },
    idempotencyKey,
  })
  async function answered<Answer extends Result | SoundsResult>(
    media: NamedBlob,
    question: Parameters<typeof ask>[2],
    waitFor: (request: RequestRef) => Promise<Answer>,
  ): Promise<Answer> {
    const headers = { prefer: `wait=${WAIT_SECONDS}` }
    try {
      const answer = await ask<Answer | Submitted>(sender, media, { ...question, headers })
      return 'data' in answer ? answer : await waitFor(answer)
    } catch (error) {
      const { code, requestId } = error as ApiError
      if (code !== 'REQUEST_FAILED' || requestId === undefined) throw error
      return waitFor(requestId) // throws with the code of the failure
    }
  }
  const submit = (kind: string, body: object, { idempotencyKey }: SubmitOptions = {}) =>
    sender.transport.json<Submitted>('POST', `/v1/queue/audio/${kind}`, {
      body,
      headers: { 'idempotency-key': idempotencyKey ?? newIdempotencyKey() },
    })
  return {
    separate: (media, prompt, options) => answered(media, separation(prompt, options), wait),
    begin: (media, prompt, options, onProgress) =>
      ask(sender, media, { ...separation(prompt, options), onProgress }),
    submit: (submission, options) => submit('separate', submission, options),
    sounds(media, { idempotencyKey, input = {}, ...top } = {}) {
      const question = { kind: 'sounds' as const, submission: { ...top, input }, idempotencyKey }
      return answered(media, question, waitForSounds)
    },
    submitSounds: (submission, options) => submit('sounds', submission, options),
  }
}

type RequestCalls = Omit<Client, keyof FileCalls | keyof AccountCalls | keyof QuestionCalls>

function requestCalls(transport: Transport): RequestCalls {
  async function waitFor<Answer>(request: RequestRef): Promise<Answer> {
    for await (const { status, error } of calls.follow(request)) {
      if (status === 'FAILED' && error) throw new ApiError(error)
    }
    return transport.json('GET', `${pathOf(request)}/result`)
  }
  const calls: RequestCalls = {
    status: (request, { logs = false } = {}) =>
      transport.json('GET', `${pathOf(request)}/status${queryOf({ logs })}`),
    follow: (request, { logs = false, intervalSeconds: interval, onRetry } = {}) =>
      transport.follow(`${pathOf(request)}/status/stream${queryOf({ logs, interval })}`, onRetry),
    wait: (request) => waitFor<Result>(request),
    waitForSounds: (request) => waitFor<SoundsResult>(request),
    result: (request) => transport.json('GET', `${pathOf(request)}/result`),
    peaks: (request) => transport.json('GET', `${pathOf(request)}/peaks`),
    livePreview: (request) => transport.json('GET', `${pathOf(request)}/live-preview`),
    cancel: (request) => {
      const signal = AbortSignal.timeout(CANCEL_MS_MAX)
      return transport.json('PUT', `${pathOf(request)}/cancel`, { signal })
    },
    delete: (request) => transport.delete(pathOf(request)),
    rename: (request, name) =>
      transport.json('PATCH', pathOf(request), { body: { file_name: name } }),
    list: ({ limit = PAGE, cursor = '', status, model, createdFrom, createdBefore } = {}) => {
      const created = { created_from: timeOf(createdFrom), created_before: timeOf(createdBefore) }
      const query = queryOf({ limit, cursor, status, model, ...created })
      return transport.json('GET', `/v1/queue/requests${query}`)
    },
    share: (request, { expiresInSeconds: seconds } = {}) =>
      // Without a response, the share may still have been created.
      transport.json('POST', `${pathOf(request)}/shares`, {
        body: seconds === undefined ? {} : { expires_in: seconds },
        isRepeatable: false,
      }),
    shares: () => transport.json('GET', '/v1/shares'),
    revokeShare: (shareId) => transport.delete(`/v1/shares/${encodeURIComponent(shareId)}`),
    shared: () => transport.json('GET', '/v1/shared'),
    redeliver: (request) => transport.json('POST', `${pathOf(request)}/webhook/redeliver`),
    deliveryAttempts: (request) => transport.json('GET', `${pathOf(request)}/webhook/attempts`),
  }
  return calls
}

/** Returns a query with its question mark, without the values that are undefined; or nothing. */
function queryOf(values: Record<string, string | number | boolean | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, String(value))
  }
  const text = query.toString()
  return text && `?${text}`
}

const timeOf = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time

function pathOf(request: RequestRef): string {
  const id = typeof request === 'string' ? request : request.request_id
  return `/v1/queue/requests/${encodeURIComponent(id)}`
}

const filePathOf = (fileId: string): string => `/v1/files/${encodeURIComponent(fileId)}`
