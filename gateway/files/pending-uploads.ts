/**
 * Accepts what clients have uploaded to a bucket at a presigned address. A bucket does not announce
 * uploads, so the gateway looks for one when a client names the file, and in the sweeper.
 */

import type { Clock } from '../../shared/clock.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { Settings } from '../config.ts'
import { uploadTimes } from './times.ts'
import type { Bucket, MediaStore, PendingUpload } from '../media-store/media-store.ts'
import type { Store } from '../store/database.ts'
import { findFile, hasMedia, markFileUploaded } from '../store/files.ts'
import { inputKey, ownerOf } from '../media-store/keys.ts'
import type { FileRow } from '../store/schema/tables.ts'

/** Dependencies for reading files, including what was uploaded in the meantime. */
export interface FileDeps {
  store: Store
  pendingUploads: Pick<PendingUploads, 'accept'>
  clock: Clock
}

interface PendingUploadDeps {
  store: Store
  mediaStore: MediaStore
  clock: Clock
  log: Logger
  config: Settings<'fileHours'>
}

/** Accepts uploads to a bucket. With a local disk there is nothing to accept. */
export class PendingUploads {
  readonly #deps: PendingUploadDeps
  /**
   * By file id, so that a file is never checked twice at once: one check could replace what the
   * other has accepted.
   */
  readonly #accepting = new Map<string, Promise<FileRow>>()

  constructor(deps: PendingUploadDeps) {
    this.#deps = deps
  }

  /** Returns the row of `file`, marked as uploaded if its bytes have arrived in time. */
  async accept(file: FileRow): Promise<FileRow> {
    const { mediaStore } = this.#deps
    if (mediaStore.kind !== 's3' || !isAwaited(file)) return file
    const { file_id: fileId } = file
    const concurrent = this.#accepting.get(fileId)
    if (concurrent) return concurrent
    const accepted = this.#accept(mediaStore, file).finally(() => this.#accepting.delete(fileId))
    this.#accepting.set(fileId, accepted)
    return accepted
  }

  /**
   * Accepts every upload that a file awaits, and deletes the others. A failure does not stop the
   * rest.
   */
  async acceptAll(): Promise<void> {
    const { mediaStore: bucket, log } = this.#deps
    if (bucket.kind !== 's3') return
    for await (const key of bucket.pendingUploads()) {
      await this.#acceptOrDrop(bucket, key).catch((error: unknown) => {
        log.error({ err: error, key }, 'an upload could not be accepted; the next turn retries it')
      })
    }
  }

  async #accept(bucket: Bucket, file: FileRow): Promise<FileRow> {
    const { store, config } = this.#deps
    const { file_id: fileId } = file
    const upload = await bucket.pendingUploadOf(inputKey(fileId))
    if (upload && fits(upload, file) && (await bucket.accept(upload))) {
      await markFileUploaded(store, fileId, uploadTimes(upload.arrivedAt, config))
      await bucket.dropPendingUpload(inputKey(fileId))
      // the file was deleted in the meantime, and its bytes perhaps before they were accepted
      if (!(await hasMedia(store, fileId))) await bucket.remove(inputKey(fileId))
    }
    return (await findFile(store, fileId)) ?? file // another process may have accepted it
  }

  async #acceptOrDrop(bucket: Bucket, key: string): Promise<void> {
    const { store, clock } = this.#deps
    const owner = ownerOf(key)
    const row = owner && (await findFile(store, owner.id))
    const file = row && (await this.accept(row))
    const stillAwaited = file && isAwaited(file) && Date.parse(file.expires_at) > clock.now()
    if (!stillAwaited) await bucket.dropPendingUpload(key)
  }
}

/** Returns whether an upload of the file would still be accepted, if it came in time. */
const isAwaited = (file: FileRow): boolean =>
  file.uploaded_at === null && file.media_removed_at === null

/**
 * Returns whether an upload has the right length and came in time. Not every store refuses a body
 * of another length.
 */
const fits = ({ bytes, arrivedAt }: PendingUpload, file: FileRow): boolean =>
  bytes === file.file_size && arrivedAt <= Date.parse(file.expires_at)
