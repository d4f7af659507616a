/** Receives a file whose bytes come in the same call as its prompt. */

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { withDeadline } from '../../../shared/deadline.ts'
import { MINUTE_MS } from '../../../shared/durations.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { INPUT_PURPOSE } from '../../api/file-schemas.ts'
import type { Store } from '../../store/database.ts'
import { markFileUploaded, type UploadedFile } from '../../store/files.ts'
import { inputKey } from '../../media-store/keys.ts'
import { createFile, type CreateFileDeps } from './create-file.ts'
import { removeFile, type RemovalDeps } from '../../files/removal.ts'
import { uploadTimes } from '../../files/times.ts'
import type { Settings } from '../../config.ts'
import type { MediaStore } from '../../media-store/media-store.ts'

export interface IncomingFile {
  /** A new id by default. */
  fileId?: string
  name: string
  contentType: string
  body: Readable
  /**
   * The exact length, if the client has stated it. It shows whether all of the file has arrived.
   */
  bytes?: number
  /**
   * The most bytes that it may have. The account's media quota counts this many until the file has
   * arrived.
   */
  bytesMax: number
  signal: AbortSignal
}

export interface ReceivedFile {
  /** The row as `markReceived` will store it; until then the stored row is pending. */
  file: UploadedFile
  /** SHA-256 in hexadecimal digits. */
  hash: string
}

export interface ReceiveDeps extends CreateFileDeps, RemovalDeps {
  mediaStore: Pick<MediaStore, 'save' | 'remove'>
  config: CreateFileDeps['config'] & Settings<'fileHours' | 'bodySecondsMax'>
}

/**
 * Stores a file of the account with its bytes, or nothing on failure.
 * @throws ServiceError like the calls that create a file and upload its bytes
 */
export async function receiveFile(
  deps: ReceiveDeps,
  accountId: string,
  { fileId: ownId, name, contentType, body, bytes: exact, bytesMax, signal }: IncomingFile,
): Promise<ReceivedFile> {
  const file = await createFile(
    deps,
    accountId,
    { file_name: name, content_type: contentType, file_size: bytesMax, purpose: INPUT_PURPOSE },
    ownId,
  )
  const { file_id: fileId } = file
  try {
    const sum = createHash('sha256')
    let bytes = 0
    const ms = deps.config.uploadMinutes * MINUTE_MS
    await withDeadline({ ms, timeoutError: tooLate, signal }, (deadline) =>
      deps.mediaStore.save(inputKey(fileId), body, {
        ...(exact !== undefined && { bytes: exact }),
        bytesMax,
        silentMsMax: 1_000 * deps.config.bodySecondsMax,
        signal: deadline,
        onPiece(piece) {
          bytes += piece.length
          sum.update(piece)
        },
      }),
    )
    if (bytes === 0) throw new ServiceError('INVALID_REQUEST', { message: 'The file is empty.' })
    const times = uploadTimes(deps.clock.now(), deps.config)
    return { file: { ...file, ...times, file_size: bytes }, hash: sum.digest('hex') }
  } catch (error) {
    await discardFile(deps, fileId)
    throw error
  }
}

/** Deletes a received file that nothing uses. If that fails now, the sweeper does it later. */
export async function discardFile(deps: ReceiveDeps, fileId: string): Promise<void> {
  await removeFile(deps, { file_id: fileId }).catch((error: unknown) => {
    deps.log.warn({ err: error, fileId }, 'a received file could not be deleted; it expires')
  })
}

/**
 * Marks a received file as uploaded. Call it in the transaction that stores what is to be done with
 * the file.
 * @throws ServiceError `FILE_EXPIRED`
 */
export async function markReceived(
  store: Store,
  { file_id: fileId, file_size, uploaded_at, expires_at }: UploadedFile,
): Promise<void> {
  const columns = { file_size, uploaded_at, expires_at }
  if (!(await markFileUploaded(store, fileId, columns))) throw tooLate()
}

const tooLate = () =>
  new ServiceError('FILE_EXPIRED', { message: 'The upload took too long; send it again.' })
