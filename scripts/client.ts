/** The service's HTTP API as functions: what the command-line tools speak it with. */

import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTerminal, type RequestStatus } from '../shared/request-status.ts'
import type { SeparationOptions } from '../shared/separation-options.ts'

/** The body of a submit; what is absent has the service's default. */
export interface Submission {
  input: { prompt: string; audio_url?: string; file_id?: string } & Partial<SeparationOptions>
  webhookUrl?: string
  webhookSecret?: string
  metadata?: unknown
}

export interface Submitted {
  request_id: string
  stream_url: string
  result_url: string
  webhook?: { url: string; signing_secret?: string }
}

export interface Status {
  status: RequestStatus
  /** From 0 to 1. */
  progress?: number
  queue_position?: number
  logs?: { timestamp: string; message: string }[]
  error?: { code: string; message: string }
}

export interface OutputFile {
  url: string
  video_url?: string
  file_name: string
}

export interface Result {
  data: { target: OutputFile; residual: OutputFile; duration?: number }
}

export interface Client {
  /**
   * Creates a file record and sends the bytes of `path` to its address.
   * @param onProgress is told the part that is sent, from 0 to 1
   * @returns the file's id
   */
  upload(path: string, contentType: string, onProgress: (part: number) => void): Promise<string>
  submit(submission: Submission): Promise<Submitted>
  /** Every status of a request, up to and with the terminal one; reconnects when it must. */
  follow(submitted: Submitted): AsyncGenerator<Status, void, void>
  result(submitted: Submitted): Promise<Result>
  /** Works also when the client's signal has fired. */
  cancel(submitted: Submitted): Promise<void>
  /** Writes the file at a signed address to `path`. */
  save(url: string, path: string): Promise<void>
}

export interface ClientOptions {
  baseUrl: string
  apiKey: string | undefined
  /** Ends whatever the client is doing. */
  signal: AbortSignal
}

/** What the service refused, in its own words. */
export class ApiError extends Error {
  readonly code: string
  readonly param: string | undefined

  constructor({ code, message, param }: { code: string; message: string; param?: string }) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.param = param
  }
}

/** Nobody answers at the address. */
export class UnreachableError extends Error {
  constructor(address: string, cause: unknown) {
    super(`${address} does not answer.`, { cause })
    this.name = 'UnreachableError'
  }
}

/** Tries in a row to open a status stream that bring no event. */
const STREAM_TRIES_MAX = 8
const STREAM_WAIT_MS = 250
const CANCEL_MS_MAX = 5000

export function createClient({ baseUrl, apiKey, signal }: ClientOptions): Client {
  const authorization: Record<string, string> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const get = (url: string) => call(url, { headers: authorization, signal })
  const post = (path: string, body: unknown) =>
    call(baseUrl + path, {
      method: 'POST',
      headers: { ...authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })

  return {
    async upload(path, contentType, onProgress) {
      const { size } = await stat(path)
      const reply = await post('/v1/files', {
        file_name: basename(path),
        content_type: contentType,
        file_size: size,
        purpose: 'audio.separate.input',
      })
      const file = (await reply.json()) as UploadPlace
      await call(file.upload_url, {
        method: file.upload_method,
        headers: { ...file.headers, 'content-length': String(size) },
        body: readWithProgress(path, size, onProgress),
        duplex: 'half',
        signal,
      })
      return file.file_id
    },
    submit: async (submission) =>
      (await (await post('/v1/queue/audio/separate', submission)).json()) as Submitted,
    follow: ({ stream_url }) => followStatus(() => get(`${stream_url}?logs=true`), signal),
    result: async ({ result_url }) => (await (await get(result_url)).json()) as Result,
    async cancel({ request_id }) {
      await call(`${baseUrl}/v1/queue/requests/${request_id}/cancel`, {
        method: 'PUT',
        headers: authorization,
        signal: AbortSignal.timeout(CANCEL_MS_MAX),
      })
    },
    async save(url, path) {
      const { body } = await call(url, { signal })
      try {
        await pipeline(body ?? [], createWriteStream(path), { signal })
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    },
  }
}

interface UploadPlace {
  file_id: string
  upload_url: string
  upload_method: string
  headers: Record<string, string>
}

/** A fetch that throws our errors: `ApiError` for any status but 2xx. */
async function call(url: string, options: RequestInit): Promise<Response> {
  const reply = await fetch(url, options).catch((error: unknown) => {
    options.signal?.throwIfAborted()
    throw new UnreachableError(new URL(url).origin, error)
  })
  if (reply.ok) return reply
  const text = await reply.text()
  throw apiError(text) ?? new ApiError({ code: `HTTP_${reply.status}`, message: reply.statusText })
}

/** The error that an `ErrorResponse` carries; undefined when `text` is none. */
function apiError(text: string): ApiError | undefined {
  try {
    const { error } = JSON.parse(text) as { error: ConstructorParameters<typeof ApiError>[0] }
    return new ApiError(error)
  } catch {
    return undefined // a proxy's page, perhaps
  }
}

async function* readWithProgress(path: string, size: number, onProgress: (part: number) => void) {
  let sent = 0
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    yield piece
    sent += piece.length
    onProgress(sent / size)
  }
}

/** Reads status streams one after the other: each ends with its window, or breaks. */
async function* followStatus(
  open: () => Promise<Response>,
  signal: AbortSignal,
): AsyncGenerator<Status, void, void> {
  for (let tries = 1; ; tries += 1) {
    try {
      for await (const { name, data } of readEvents((await open()).body ?? [])) {
        tries = 0
        if (name === 'error') throw apiError(data) ?? new Error(`stream error: ${data}`)
        if (name !== 'status') continue
        const status = JSON.parse(data) as Status
        yield status
        if (isTerminal(status.status)) return
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ApiError || tries >= STREAM_TRIES_MAX) throw error
    }
    if (tries >= STREAM_TRIES_MAX) throw new Error('The status stream ends without an event.')
    await sleep(STREAM_WAIT_MS * (tries + 1), undefined, { signal })
  }
}

/** The Server-Sent Events of a body, however its bytes are cut. Comments are skipped. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<{ name: string; data: string }, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true })
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split(/\r?\n/)
      const data = fieldsOf(lines, 'data')
      if (data.length === 0) continue
      yield { name: fieldsOf(lines, 'event')[0] ?? 'message', data: data.join('\n') }
    }
  }
}

const fieldsOf = (lines: readonly string[], name: string): string[] =>
  lines.flatMap((line) => {
    if (!line.startsWith(`${name}:`)) return []
    return [line.slice(name.length + 1).replace(/^ /, '')]
  })
