/**
 * Stores of media, by key (`inputs/file_…`, `outputs/req_…/target`), with signed addresses for
 * uploads and downloads. There are two, a local folder and a bucket of an S3-compatible store; one
 * suite of tests covers both.
 */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Audience, Claims, SignedMethod } from './signed-url.ts'

export type MediaStore = LocalDisk | Bucket

export interface Upload {
  key: string
  audience: Audience
  /** Epoch milliseconds after which the address is refused. */
  expiresAt: number
  /** Other bodies are refused; absent: any body is accepted. */
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

/** The key, or the file, with the id of the installation that the place belongs to. */
export const OWNER_KEY = 'winnow-installation'

/** Methods of both stores. */
export interface BaseMediaStore {
  /** The media's place, for people. */
  readonly place: string
  /** The id of the installation that the place belongs to; undefined: nobody's. */
  owner(): Promise<string | undefined>
  /** Makes the place that installation's, where it is nobody's. */
  claim(installationId: string): Promise<void>
  /** An address that accepts a PUT of the media without an API key. */
  uploadUrl(upload: Upload): Promise<string>
  /** An address that returns the media, whole or by range, without an API key. */
  downloadUrl(download: Download): Promise<string>
  /** Stores all of `body` under `key`, durably, or nothing on failure. */
  save(key: string, body: Readable, limits: StageLimits): Promise<void>
  /** Deletes what is stored under `key`, and all that lies below it; nothing there is no error. */
  remove(key: string): Promise<void>
  /** All that is stored, in any order. Concurrent changes may be missed. */
  list(): AsyncIterable<StoredMedia>
}

/** A local folder, behind the gateway's routes under `/media`. */
export interface LocalDisk extends BaseMediaStore {
  kind: 'local disk'
  /**
   * Checks the signed query of a request to the address of `key`.
   * @param now epoch milliseconds
   */
  check(
    method: SignedMethod,
    key: string,
    query: Readonly<Record<string, unknown>>,
    now: number,
  ): Claims | 'expired' | 'forged'
  /** Bytes that media may still take, without what an upload must leave. */
  bytesLeft(): Promise<number>
  /** Returns whether the disk has as much free as an upload must leave. */
  hasRoom(): Promise<boolean>
  /** Stores all of `body`, or nothing on failure. To be placed or discarded. */
  stage(body: Readable, limits: StageLimits): Promise<StagedMedia>
  /** SCRATCH_DIR of the engines on this host; undefined: none is known. */
  readonly engineFolder: string | undefined
  /**
   * As `stage`, of complete files in `engineFolder`, by part, whose bytes are neither read nor
   * copied. They are placed below one key, under their parts. Undefined where one can't be: it is
   * not there, or on another disk or another user's.
   */
  adopt(names: ReadonlyMap<string, string>): Promise<StagedMedia | undefined>
  /** Copies what is stored under `key` into a folder of `engineFolder`; false where it can't be. */
  handOver(key: string, folderName: string): Promise<boolean>
  /** Answers `request` (its method, Range and conditions) with what is stored under `key`. */
  reply(key: string, request: IncomingMessage): Promise<MediaReply>
}

export interface StageLimits {
  /** Exactly this many bytes, or it fails with `PAYLOAD_TOO_LARGE` or `INVALID_REQUEST`. */
  bytes?: number
  /** At most this many bytes, or it fails with `PAYLOAD_TOO_LARGE`. */
  bytesMax?: number
  /** A longer pause of the sender ends the upload. */
  silentMsMax: number
  /** When it aborts, it fails with its reason. */
  signal: AbortSignal
  /** Receives each piece on its way to the disk. */
  onPiece?(piece: Buffer): void
}

/** Media that is complete and durable, but not yet under a key. */
export interface StagedMedia {
  /** Puts it under `key`, durably and atomically; replaces what is there. */
  place(key: string): Promise<void>
  /** Deletes it unless it has been placed. */
  discard(): Promise<void>
}

/** A response to a GET or HEAD: whole, a range, not modified, or not found. */
export interface MediaReply {
  status: number
  headers: Record<string, string>
  body: Readable
}

/** A bucket of an S3-compatible store, behind presigned addresses. */
export interface Bucket extends BaseMediaStore {
  kind: 's3'
  /** The client's upload at the upload address of `key`; undefined: none yet. */
  pendingUploadOf(key: string): Promise<PendingUpload | undefined>
  /** Moves an upload to its key; false when the client has uploaded again meanwhile. */
  accept(pendingUpload: PendingUpload): Promise<boolean>
  /** Deletes what a client has put at the upload address of `key`. */
  dropPendingUpload(key: string): Promise<void>
  /** The keys of all uploads that are not yet dropped. */
  pendingUploads(): AsyncIterable<string>
}

/** A complete upload of a client. */
export interface PendingUpload {
  key: string
  bytes: number
  /** Epoch milliseconds. */
  arrivedAt: number
  etag: string
}
