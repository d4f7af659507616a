/** Uploaded media. A file's status is not stored, because it follows from its times. */

import { isId } from '../../shared/ids.ts'
import { isPostgres, type Store } from './database.ts'
import { newestFirst, type Page } from './pages.ts'
import type { FileRow } from './schema/tables.ts'

export type UploadedFile = FileRow & { uploaded_at: string }

export type FileStatus = 'pending' | 'uploaded' | 'expired'

/** @param now epoch milliseconds */
export function fileStatus(file: FileRow, now: number): FileStatus {
  if (file.media_removed_at !== null || now >= Date.parse(file.expires_at)) return 'expired'
  return file.uploaded_at === null ? 'pending' : 'uploaded'
}

export async function insertFile(store: Store, file: FileRow): Promise<void> {
  await store.insertInto('files').values(file).execute()
}

/** @param fileId any text, as a client may have sent it */
export async function findFile(store: Store, fileId: string): Promise<FileRow | undefined> {
  if (!isId(fileId)) return undefined
  return store.selectFrom('files').selectAll().where('file_id', '=', fileId).executeTakeFirst()
}

/** Returns an account's files, newest first. */
export function listFiles(store: Store, accountId: string, page: Page): Promise<FileRow[]> {
  const files = store.selectFrom('files').selectAll().where('account_id', '=', accountId)
  return newestFirst(files, { id: 'file_id' }, page).execute()
}

/**
 * Returns when the first of an account's other files expires, or undefined if it holds no other.
 */
export async function firstEndOfOthers(
  store: Store,
  { account_id: accountId, file_id: fileId }: Pick<FileRow, 'account_id' | 'file_id'>,
): Promise<string | undefined> {
  const first = await store
    .selectFrom('files')
    .select('expires_at')
    .where('account_id', '=', accountId)
    .where('file_id', '!=', fileId)
    .where('media_removed_at', 'is', null)
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst()
  return first?.expires_at
}

const withMedia = (store: Store, fileId: string) =>
  store
    .selectFrom('files')
    .select('file_id')
    .where('file_id', '=', fileId)
    .where('media_removed_at', 'is', null)

/** Returns whether the bytes of an uploaded file are still kept. */
export const hasMedia = async (store: Store, fileId: string): Promise<boolean> =>
  (await withMedia(store, fileId).executeTakeFirst()) !== undefined

/**
 * Like `hasMedia`, and keeps the bytes from being marked for deletion until the transaction ends.
 */
export const keepMedia = async (store: Store, fileId: string): Promise<boolean> =>
  (await withMedia(store, fileId)
    .$if(isPostgres(store), (query) => query.forKeyShare())
    .executeTakeFirst()) !== undefined

/**
 * Moves a file from pending to uploaded. Returns false if it was uploaded already, or has expired.
 * @param noted sets the size, too, if it was not known before
 */
export async function markFileUploaded(
  store: Store,
  fileId: string,
  noted: Pick<FileRow, 'expires_at'> & { uploaded_at: string; file_size?: number },
): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('files')
    .set(noted)
    .where('file_id', '=', fileId)
    .where('uploaded_at', 'is', null)
    .where('expires_at', '>', noted.uploaded_at)
    .where('media_removed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Stores how many seconds the media of a file lasts. */
export async function setFileDuration(store: Store, fileId: string, duration: number) {
  await store.updateTable('files').set({ duration }).where('file_id', '=', fileId).execute()
}
