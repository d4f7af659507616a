/** Adds what needs a file system to the client, for Node 20.19 or later, Deno and Bun. */

import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { createReadStream, openAsBlob } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  createClient as createWebClient,
  contentTypeOf,
  type Client as WebClient,
  type ClientOptions,
  type NamedBlob,
  type OnProgress,
  type Result,
  type SeparateOptions,
  type SoundsOptions,
  type SoundsResult,
  type Submitted,
} from './client.ts'
import { Download } from './download.ts'
import { retryCall } from './retry.ts'
import { monotonicProgress } from './send-blob.ts'
import { TIMEOUT_SECONDS } from './time-limit.ts'
import { RETRIES } from './transport.ts'

export * from './client.ts'
export {
  verifyWebhook,
  WebhookError,
  type CompletedEvent,
  type FailedEvent,
  type SoundsCompletedEvent,
  type SoundsFailedEvent,
  type WebhookEvent,
} from './webhook.ts'

/** Read-ahead of a file. With Node's default, sending takes twice as much CPU time. */
const FILE_BYTES_AHEAD = 262_144

export interface Client extends WebClient {
  /** As in browsers, and of the file at a path. */
  separate(
    media: NamedBlob | string,
    prompt: string | readonly string[],
    options?: SeparateOptions,
  ): Promise<Result>
  /** As in browsers, and of the file at a path. */
  begin(
    media: NamedBlob | string,
    prompt: string | readonly string[],
    options?: SeparateOptions,
    onProgress?: OnProgress,
  ): Promise<Submitted>
  /** As in browsers, and of the file at a path. */
  sounds(media: NamedBlob | string, options?: SoundsOptions): Promise<SoundsResult>
  /**
   * Creates a file and streams the bytes of `path`.
   * @param onProgress receives the share that is sent, from 0 to 1
   * @returns the file's id
   */
  upload(path: string, contentType: string, onProgress?: (part: number) => void): Promise<string>
  /**
   * Writes the file at a signed address, such as `data.target.url`, to `path`, which only appears
   * once the file is complete. A download that breaks off resumes where it ended.
   */
  download(url: string, path: string): Promise<void>
}

export function createClient(options: ClientOptions): Client {
  const { signal = new AbortController().signal } = options
  setMaxListeners(0, signal) // every call in flight adds listeners
  const client = createWebClient({ ...options, signal })
  const { timeoutSeconds: seconds = TIMEOUT_SECONDS, retries = RETRIES } = options
  const { open: openOnce } = createWebClient({ ...options, signal, retries: 0 })
  return {
    ...client,
    separate: async (media, ...rest) => client.separate(await blobOf(media), ...rest),
    begin: async (media, ...rest) => client.begin(await blobOf(media), ...rest),
    sounds: async (media, options) => client.sounds(await blobOf(media), options),
    async upload(path, contentType, onProgress = () => undefined) {
      const { size } = await stat(path)
      const file = await client.createFile({
        file_name: basename(path),
        content_type: contentType,
        file_size: size,
        purpose: 'audio.separate.input',
      })
      const headers = { ...file.headers, 'content-length': String(size) }
      const report = monotonicProgress(onProgress)
      await client.send({ ...file, headers }, () => readWithProgress(path, size, report))
      return file.file_id
    },
    async download(url, path) {
      const part = join(dirname(path), `.${randomUUID()}.part`)
      const file = await open(part, 'w')
      try {
        const download = new Download({ url, file, open: openOnce, signal, seconds })
        const progress = () => download.bytes
        await retryCall({ retries, signal, progress }, () => download.attempt())
        await file.close()
        await rename(part, path)
      } catch (error) {
        await file.close()
        await rm(part, { force: true })
        throw error
      }
    },
  }
}

/** Returns the media, or the file at a path, whose bytes are only read as they are sent. */
const blobOf = async (media: NamedBlob | string): Promise<NamedBlob> =>
  typeof media === 'string'
    ? { name: basename(media), contentType: contentTypeOf(media), bytes: await openAsBlob(media) }
    : media

async function* readWithProgress(path: string, size: number, onProgress: (part: number) => void) {
  let sent = 0
  const pieces = createReadStream(path, { highWaterMark: FILE_BYTES_AHEAD })
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    yield piece
    sent += piece.length
    onProgress(sent / size)
  }
}
