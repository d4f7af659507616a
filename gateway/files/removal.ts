/** Deletes media, for its owner or because it has expired. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { findFile } from '../store/files.ts'
import { inputKey } from '../media-store/keys.ts'
import {
  deleteFile,
  putRemovalsOff,
  settleRemovals,
  type DeletionRefusal,
} from '../store/retention.ts'
import type { FileRow } from '../store/schema/tables.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import type { Store } from '../store/database.ts'

export interface RemovalDeps {
  store: Store
  mediaStore: Pick<MediaStore, 'remove'>
  clock: Clock
  log: Logger
}

/**
 * Deletes the bytes of media that the database has noted for deletion. Keys that cannot be deleted
 * now stay noted, and the sweeper retries them.
 * @returns how many keys were deleted
 */
export async function removeMedia(
  { store, mediaStore, clock, log }: RemovalDeps,
  keys: readonly string[],
): Promise<number> {
  const removed: string[] = []
  const failed: string[] = []
  for (const key of keys) {
    try {
      await mediaStore.remove(key)
      removed.push(key)
    } catch (error) {
      log.error({ err: error, key }, 'media could not be deleted; a later turn retries')
      failed.push(key)
    }
  }
  if (removed.length > 0) await settleRemovals(store, removed)
  if (failed.length > 0) await putRemovalsOff(store, failed, isoTime(clock.now()))
  return removed.length
}

/**
 * Returns a file of the account.
 * @throws ServiceError `NOT_FOUND` if the account has none with this id
 */
export async function findOwnFile({ store }: { store: Store }, accountId: string, fileId: string) {
  const file = await findFile(store, fileId)
  if (file?.account_id === accountId) return file
  throw unknown('file')
}

/**
 * Deletes a file and its bytes, even if it is still to be uploaded.
 * @throws ServiceError `MEDIA_IN_USE`; `NOT_FOUND` if another call has deleted it in the meantime
 */
export async function removeFile(deps: RemovalDeps, { file_id: fileId }: Pick<FileRow, 'file_id'>) {
  assertDeleted(await deleteFile(deps.store, fileId, isoTime(deps.clock.now())), 'file')
  await removeMedia(deps, [inputKey(fileId)])
}

/** @throws ServiceError that says why something was not deleted */
export function assertDeleted(undeleted: DeletionRefusal | null, what: 'file' | 'request'): void {
  if (undeleted === null) return
  if (undeleted === 'unknown') throw unknown(what)
  throw new ServiceError('MEDIA_IN_USE', {
    message:
      `The request ${undeleted.neededBy} is under way and needs this ${what}'s media: cancel or ` +
      'delete that request first, or retry once it has ended.',
  })
}

const unknown = (what: 'file' | 'request') =>
  new ServiceError('NOT_FOUND', { message: `There is no ${what} with this id.` })
