/** Where the bytes of media live, under keys of ours: `inputs/file_…`, `outputs/req_…/target`. */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'

export interface StageLimits {
  /** Exactly this many bytes, or it fails with `PAYLOAD_TOO_LARGE` or `INVALID_REQUEST`. */
  bytes?: number
  /** When it aborts, it fails with its reason. */
  signal?: AbortSignal
}

/** Media that is whole and durable, and stands aside until it is given a key. */
export interface StagedMedia {
  bytes: number
  /** In hexadecimal. */
  sha256: string
  /** Puts it under `key`, durably and at one blow, in the place of what is there. */
  place(key: string): Promise<void>
  /** Deletes it unless it has been placed. */
  discard(): Promise<void>
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
  /** Takes in all of `body`; when anything breaks, nothing stays. To be placed or discarded. */
  stage(body: Readable, limits?: StageLimits): Promise<StagedMedia>
  /** Deletes what is stored under `key`, and all that lies below it; nothing there is no error. */
  remove(key: string): Promise<void>
  /** All that is stored, in any order. What comes or goes meanwhile may be missed. */
  list(): AsyncIterable<ListedMedia>
  /** Answers `request` (its method, Range and conditions) with what is stored under `key`. */
  reply(key: string, request: IncomingMessage): Promise<MediaReply>
}
