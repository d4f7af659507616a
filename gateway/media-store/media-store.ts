/** Where the bytes of media live, under keys of ours: `inputs/file_…`, `outputs/req_…/target`. */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

export interface WriteLimits {
  /** Exactly this many bytes, or the write fails with `PAYLOAD_TOO_LARGE` or `INVALID_REQUEST`. */
  bytes?: number
}

export interface StoredMedia {
  bytes: number
  /** In hexadecimal. */
  sha256: string
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
  /** Answers `request` (its method, Range and conditions) with what is stored under `key`. */
  reply(key: string, request: IncomingMessage): Promise<MediaReply>
}
