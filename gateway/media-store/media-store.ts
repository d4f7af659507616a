/** Where the bytes of media live, under keys of ours: `inputs/file_…`, `outputs/req_…/target`. */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

export interface WriteLimits {
  /** Exactly this many bytes, or the write fails with `PAYLOAD_TOO_LARGE` or `INVALID_REQUEST`. */
  bytes?: number
  /** When it aborts, the write fails with its reason. */
  signal?: AbortSignal
}

export interface StoredMedia {
  bytes: number
  /** In hexadecimal. */
  sha256: string
}

export interface ListedMedia {
  key: string
  /** Epoch milliseconds. */
  writtenAt: number
}

/** An answer to a GET or HEAD, ready to be sent: whole, a range, not modified, or not there. */
export interface MediaReply {
  status: number
  headers: Record<string, string>
  body: Readable
}

export interface MediaStore {
  /** Stores `body` whole and durably; when anything breaks, `key` is as it was before. */
  write(key: string, body: Readable, limits?: WriteLimits): Promise<StoredMedia>
  /** Deletes what is stored under `key`, and all that lies below it; nothing there is no error. */
  remove(key: string): Promise<void>
  /** All that is stored, in any order. What comes or goes meanwhile may be missed. */
  list(): AsyncIterable<ListedMedia>
  /** Answers `request` (its method, Range and conditions) with what is stored under `key`. */
  reply(key: string, request: IncomingMessage): Promise<MediaReply>
}
