/**
 * Where the bytes of media live, under keys of ours (`inputs/file_…`, `outputs/req_…/target`), and
 * the signed addresses at which they come and go. There are two homes, a folder of this machine and
 * a bucket of an S3-compatible store, and one suite of tests that both pass.
 */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Claims, SignedMethod } from './signed-url.ts'

export type MediaStore = LocalDisk | Bucket

/** Who is given an address: clients and engines may reach the store by different ways. */
export type Audience = 'client' | 'engine'

export interface Upload {
  key: string
  audience: Audience
  /** Epoch milliseconds after which the address is refused. */
  expiresAt: number
  /** Only such a body is taken; absent: any. */
  body?: { bytes: number; contentType: string }
}

export interface Download {
  key: string
  audience: Audience
  /** Epoch milliseconds after which the address is refused. */
  expiresAt: number
  contentType?: string
  fileName: string
}

export interface StoredMedia {
  key: string
  /** Epoch milliseconds. */
  writtenAt: number
}

/** What both homes do. */
export interface MediaHome {
  /** An address that takes a PUT of the media, without any other key. */
  uploadUrl(upload: Upload): Promise<string>
  /** An address that answers GET with the media, whole or by range, without any other key. */
  downloadUrl(download: Download): Promise<string>
  /** Deletes what is stored under `key`, and all that lies below it; nothing there is no error. */
  remove(key: string): Promise<void>
  /** All that is stored, in any order. What comes or goes meanwhile may be missed. */
  list(): AsyncIterable<StoredMedia>
}

/** A folder of this machine, behind our own routes under `/media`. */
export interface LocalDisk extends MediaHome {
  kind: 'local disk'
  /**
   * What the query of a request to the address of `key` allows.
   * @param now epoch milliseconds
   */
  check(
    method: SignedMethod,
    key: string,
    query: Readonly<Record<string, unknown>>,
    now: number,
  ): Claims | 'expired' | 'forged'
  /** Takes in all of `body`; when anything breaks, nothing stays. To be placed or discarded. */
  stage(body: Readable, limits: StageLimits): Promise<StagedMedia>
  /** Answers `request` (its method, Range and conditions) with what is stored under `key`. */
  reply(key: string, request: IncomingMessage): Promise<MediaReply>
}

export interface StageLimits {
  /** Exactly this many bytes, or it fails with `PAYLOAD_TOO_LARGE` or `INVALID_REQUEST`. */
  bytes?: number
  /** A sender that is silent for so long is given up. */
  silentMsMax: number
  /** When it aborts, it fails with its reason. */
  signal: AbortSignal
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

/** An answer to a GET or HEAD, ready to be sent: whole, a range, not modified, or not there. */
export interface MediaReply {
  status: number
  headers: Record<string, string>
  body: Readable
}

/** A bucket of an S3-compatible store, behind presigned addresses. */
export interface Bucket extends MediaHome {
  kind: 's3'
  /** What a client has put at the upload address of `key`; undefined: nothing yet. */
  pendingUploadOf(key: string): Promise<PendingUpload | undefined>
  /** Puts an arrival in its place; false when the client has put another one meanwhile. */
  accept(pendingUpload: PendingUpload): Promise<boolean>
  /** Deletes what a client has put at the upload address of `key`. */
  dropPendingUpload(key: string): Promise<void>
  /** The keys of all that has arrived and not been dropped. */
  pendingUploads(): AsyncIterable<string>
}

/** A whole body that a client has put. */
export interface PendingUpload {
  key: string
  bytes: number
  /** Epoch milliseconds. */
  arrivedAt: number
  etag: string
}
