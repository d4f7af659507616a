/**
 * The stores of media, which keep it by key (`inputs/file_…`, `outputs/req_…/target`) and sign
 * addresses for uploads and downloads. There are two: a local folder, and a bucket of an
 * S3-compatible store. One suite of tests covers both.
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
  /** Only such a body is accepted; any body if absent. */
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

/** The key or file that holds the id of the installation to which the place belongs. */
export const OWNER_KEY = 'winnow-installation'

export interface BaseMediaStore {
  /** The place of the media, for people. */
  readonly place: string
  /**
   * Returns the id of the installation to which the place belongs, or undefined if it belongs to
   * none.
   */
  owner(): Promise<string | undefined>
  /** Claims the place for an installation. Call it only if the place belongs to none. */
  claim(installationId: string): Promise<void>
  /** Returns an address that accepts a PUT of the media without an API key. */
  uploadUrl(upload: Upload): Promise<string>
  /** Returns an address that serves the media, whole or by range, without an API key. */
  downloadUrl(download: Download): Promise<string>
  /** Stores all of `body` under `key`, durably, or nothing on failure. */
  save(key: string, body: Readable, limits: StageLimits): Promise<void>
  /** Deletes what is stored under `key` and below it. It is no error if there is nothing. */
  remove(key: string): Promise<void>
  /** Yields everything that is stored, in any order. Concurrent changes may be missed. */
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
  /** Returns how many bytes media may still take, without those that must stay free. */
  bytesLeft(): Promise<number>
  /** Returns whether the disk has as much free as an upload must leave. */
  hasRoom(): Promise<boolean>
  /** Stores all of `body`, or nothing on failure. The caller then places or discards it. */
  stage(body: Readable, limits: StageLimits): Promise<StagedMedia>
  /** SCRATCH_DIR of the engines on this host; undefined if none is known. */
  readonly engineFolder: string | undefined
  /**
   * Like `stage`, but takes over complete files in `engineFolder`, by part, without reading or
   * copying their bytes. They are placed below one key, each under its part. Returns undefined if
   * one of them cannot be taken over, because it is missing, on another disk or another user's.
   */
  adopt(names: ReadonlyMap<string, string>): Promise<StagedMedia | undefined>
  /**
   * Copies what is stored under `key` into a folder of `engineFolder`. Returns false if that fails.
   */
  handOver(key: string, folderName: string): Promise<boolean>
  /** Deletes uploads that broke off with the gateway that received them. */
  removeUnfinished(): Promise<void>
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
  /** Aborts the upload, which then fails with the signal's reason. */
  signal: AbortSignal
  /** Receives each piece on its way to the disk. */
  onPiece?(piece: Buffer): void
}

/** Media that is complete and durable, but not yet under a key. */
export interface StagedMedia {
  /** Puts it under `key`, durably and atomically, in place of what is there. */
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
  /**
   * Returns what the client has put at the upload address of `key`, or undefined if there is
   * nothing yet.
   */
  pendingUploadOf(key: string): Promise<PendingUpload | undefined>
  /**
   * Copies an upload to its key. Returns false if the client has uploaded again in the meantime.
   */
  accept(pendingUpload: PendingUpload): Promise<boolean>
  /** Deletes what a client has put at the upload address of `key`. */
  dropPendingUpload(key: string): Promise<void>
  /** Yields the keys of all uploads that are not yet dropped. */
  pendingUploads(): AsyncIterable<string>
}

export interface PendingUpload {
  key: string
  bytes: number
  /** Epoch milliseconds. */
  arrivedAt: number
  etag: string
}
