/** Downloads from an address to an open file, and resumes after a broken connection. */

import type { FileHandle } from 'node:fs/promises'
import { originOf } from './call.ts'
import { ApiError, UnreachableError } from './errors.ts'
import { TimeLimit, timelyPieces } from './time-limit.ts'

interface DownloadOptions {
  url: string
  file: FileHandle
  /** Opens the address, without retries. */
  open: (url: string, headers: Record<string, string>) => Promise<Response>
  /** Aborts the download. */
  signal: AbortSignal
  /** An attempt ends if the body is silent for longer. */
  seconds: number
}

/** The requested range does not exist, so the media has become shorter. */
const RANGE_NOT_SATISFIABLE = 416

export class Download {
  readonly #options: DownloadOptions
  #bytes = 0
  /** Distinguishes this media from others at the address; undefined if nothing does. */
  #version: string | undefined
  /** The size of the media in bytes, if a response stated it. */
  #size: number | undefined

  constructor(options: DownloadOptions) {
    this.#options = options
  }

  /** Number of bytes written. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Downloads the missing part.
   * @throws UnreachableError if the body breaks off; as `open`; errors of the file
   */
  async attempt(): Promise<void> {
    const { url, file, signal, seconds } = this.#options
    const limit = new TimeLimit({ signal, seconds, address: originOf(url) })
    try {
      const response = await this.#open()
      if (!this.#continues(response)) this.#begin(response)
      for await (const piece of this.#pieces(response, limit)) {
        await writeAt(file, piece, this.#bytes)
        this.#bytes += piece.length
      }
      if (this.#bytes < (this.#size ?? 0)) throw this.#broken(undefined)
      await file.truncate(this.#bytes) // an earlier attempt may have written more
    } finally {
      limit.release()
    }
  }

  async #open(): Promise<Response> {
    const { url, open } = this.#options
    const plain = { 'accept-encoding': 'identity' } // a range refers to the bytes as they are sent
    const isBegun = this.#bytes > 0 && this.#version !== undefined
    if (!isBegun) return open(url, plain)
    try {
      return await open(url, { ...plain, range: `bytes=${this.#bytes}-` })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === RANGE_NOT_SATISFIABLE)) throw error
      return open(url, plain)
    }
  }

  /** Returns whether the response is the missing part of the same media. */
  #continues({ status, headers }: Response): boolean {
    if (status !== 206 || this.#version !== versionOf(headers)) return false
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '')
    if (Number(range?.[1]) !== this.#bytes) return false
    return this.#size === undefined || Number(range?.[2]) === this.#size
  }

  /**
   * @throws UnreachableError for a part of different media; the next attempt starts from its
   * beginning
   */
  #begin({ status, headers, body }: Response): void {
    this.#bytes = 0
    this.#version = versionOf(headers)
    const length = headers.get('content-length')
    this.#size = length === null || headers.has('content-encoding') ? undefined : Number(length)
    if (status !== 206) return
    this.#version = undefined
    void body?.cancel().catch(() => undefined)
    throw this.#broken(new Error('the media at the address has changed'))
  }

  async *#pieces(response: Response, limit: TimeLimit): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* timelyPieces(response, limit)
    } catch (error) {
      this.#options.signal.throwIfAborted()
      throw error instanceof UnreachableError ? error : this.#broken(error)
    }
  }

  #broken(cause: unknown): UnreachableError {
    return new UnreachableError(originOf(this.#options.url), cause, 'broke off a download')
  }
}

/**
 * Returns a value that changes with the media; undefined if they are compressed, since the
 * compression may differ next time.
 */
function versionOf(headers: Headers): string | undefined {
  if (headers.has('content-encoding')) return undefined
  return headers.get('etag') ?? headers.get('last-modified') ?? undefined
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}
