/** Writes what is at an address to an open file; after a break goes on from where it ended. */

import type { FileHandle } from 'node:fs/promises'
import { originOf } from './call.ts'
import { ApiError, UnreachableError } from './errors.ts'
import { TimeLimit, timelyPieces } from './time-limit.ts'

interface DownloadOptions {
  url: string
  file: FileHandle
  /** Opens the address once. */
  open: (url: string, headers: Record<string, string>) => Promise<Response>
  /** Ends the download. */
  signal: AbortSignal
  /** A body that is silent for longer ends the attempt. */
  seconds: number
}

/** No range of the media is left: it has become shorter. */
const RANGE_NOT_SATISFIABLE = 416

export class Download {
  readonly #options: DownloadOptions
  #bytes = 0
  /** Tells the media that was begun from other media at the address; undefined: nothing does. */
  #version: string | undefined
  /** The size of the media in bytes, where the answer states it. */
  #size: number | undefined

  constructor(options: DownloadOptions) {
    this.#options = options
  }

  /** Bytes that are written. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Writes what is missing.
   * @throws UnreachableError when the body breaks off; as `open`; errors of the file
   */
  async attempt(): Promise<void> {
    const { url, file, signal, seconds } = this.#options
    const limit = new TimeLimit({ signal, seconds, address: originOf(url) })
    try {
      const reply = await this.#open()
      if (!this.#continues(reply)) this.#begin(reply)
      for await (const piece of this.#pieces(reply, limit)) {
        await writeAt(file, piece, this.#bytes)
        this.#bytes += piece.length
      }
      if (this.#bytes < (this.#size ?? 0)) throw this.#broken(undefined)
      await file.truncate(this.#bytes) // an attempt before may have written more
    } finally {
      limit.release()
    }
  }

  async #open(): Promise<Response> {
    const { url, open } = this.#options
    const plain = { 'accept-encoding': 'identity' } // a range counts the bytes as they are sent
    const isBegun = this.#bytes > 0 && this.#version !== undefined
    if (!isBegun) return open(url, plain)
    try {
      return await open(url, { ...plain, range: `bytes=${this.#bytes}-` })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === RANGE_NOT_SATISFIABLE)) throw error
      return open(url, plain)
    }
  }

  /** Returns whether the answer is the missing part of the media that was begun. */
  #continues({ status, headers }: Response): boolean {
    if (status !== 206 || this.#version !== versionOf(headers)) return false
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '')
    if (Number(range?.[1]) !== this.#bytes) return false
    return this.#size === undefined || Number(range?.[2]) === this.#size
  }

  /** @throws UnreachableError for a part of other media: the next attempt begins with its start */
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

  async *#pieces(reply: Response, limit: TimeLimit): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* timelyPieces(reply, limit)
    } catch (error) {
      this.#options.signal.throwIfAborted()
      throw error instanceof UnreachableError ? error : this.#broken(error)
    }
  }

  #broken(cause: unknown): UnreachableError {
    return new UnreachableError(originOf(this.#options.url), cause, 'broke off a download')
  }
}

/** A mark that changes with the media; none where they come compressed, maybe in another way. */
function versionOf(headers: Headers): string | undefined {
  if (headers.has('content-encoding')) return undefined
  return headers.get('etag') ?? headers.get('last-modified') ?? undefined
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}
