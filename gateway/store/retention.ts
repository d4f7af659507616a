/**
 * Deletes what has expired, and what its owner deletes. Rows are marked or deleted in the
 * transaction that records which media to delete, so that such media is no longer served and none
 * is left behind.
 */

import { CHECKPOINT_MEDIA_SECONDS_MIN } from '../../shared/checkpoint.ts'
import {
  checkpointKey,
  inputKey,
  livePreviewKey,
  outputKey,
  outputsKey,
  ownerOf,
  placeKey,
} from '../media-store/keys.ts'
import type { OutputPart, StoredFile } from '../../shared/messages.ts'
import { isPlace } from '../../shared/output-places.ts'
import { inTransaction, isPostgres, type Store } from './database.ts'
import { hasMedia } from './files.ts'
import { forgetAnswer } from './idempotency-keys.ts'
import { UNFINISHED } from './requests.ts'
import type { MediaRemovalRow, RequestRow, Tables } from './schema/tables.ts'

/** The tables whose rows refer to a request by its id, and are deleted with it. */
const REQUEST_CHILD_TABLES = [
  'request_logs',
  'outbox',
  'deliveries',
] as const satisfies readonly (keyof Tables)[]

export interface Page {
  now: string
  limit: number
}

/**
 * Marks the media of expired files for deletion, unless an unfinished request needs it. Returns how
 * many files.
 */
export const giveUpExpiredFiles = (store: Store, { now, limit }: Page): Promise<number> =>
  inTransaction(store, async (store) => {
    const expired = await store
      .selectFrom('files')
      .select('file_id')
      .where('media_removed_at', 'is', null)
      .where('expires_at', '<=', now)
      .where('file_id', 'not in', neededFiles(store))
      .orderBy('expires_at')
      .limit(limit)
      .$if(isPostgres(store), (query) => query.forUpdate().skipLocked())
      .execute()
    if (expired.length === 0) return 0
    const ids = expired.map((row) => row.file_id)
    const files = await store
      .updateTable('files')
      .set({ media_removed_at: now })
      .where('file_id', 'in', ids)
      .where('file_id', 'not in', neededFiles(store)) // a submit just before our lock
      .returning('file_id')
      .execute()
    await noteRemovals(
      store,
      files.map((file) => inputKey(file.file_id)),
      now,
    )
    return files.length
  })

const neededFiles = (store: Store) =>
  store
    .selectFrom('requests')
    .select('file_id')
    .where('status', 'in', UNFINISHED)
    .where('file_id', 'is not', null)
    .$castTo<{ file_id: string }>()

/**
 * Marks expired outputs for deletion, unless an unfinished request has one of them as its source,
 * and whatever failed requests have left. Returns how many requests.
 */
export const giveUpOutputs = (store: Store, { now, limit }: Page): Promise<number> =>
  inTransaction(store, async (store) => {
    const withMedia = store
      .selectFrom('requests')
      .select('request_id')
      .where('media_removed_at', 'is', null)
      .$if(isPostgres(store), (query) => query.forUpdate().skipLocked())
    // Two queries, because with an `or` SQLite would read all requests that have media.
    const expired = await withMedia
      .where('outputs_expire_at', '<=', now)
      .where('request_id', 'not in', neededRequests(store))
      .limit(limit)
      .execute()
    const failed = await withMedia
      .where('outputs_expire_at', 'is', null)
      .where('status', '=', 'FAILED')
      .limit(limit - expired.length)
      .execute()
    const ids = [...expired, ...failed].map((row) => row.request_id)
    if (ids.length === 0) return 0
    const requests = await store
      .updateTable('requests')
      .set({ media_removed_at: now })
      .where('request_id', 'in', ids)
      .where('request_id', 'not in', neededRequests(store)) // as with files
      .returning('request_id')
      .execute()
    await noteRemovals(
      store,
      requests.map((request) => outputsKey(request.request_id)),
      now,
    )
    return requests.length
  })

const neededRequests = (store: Store) =>
  store
    .selectFrom('requests')
    .select('source_request_id')
    .where('status', 'in', UNFINISHED)
    .where('source_request_id', 'is not', null)
    .$castTo<{ source_request_id: string }>()

/** Removes requests that ended before `before` and have no outputs left. Returns how many. */
export const deleteOldRequests = (
  store: Store,
  { before, limit }: { before: string; limit: number },
): Promise<number> =>
  inTransaction(store, async (store) => {
    const old = await store
      .selectFrom('requests')
      .select('request_id')
      .where('finished_at', '<=', before)
      .where('media_removed_at', 'is not', null)
      .orderBy('finished_at')
      .limit(limit)
      .$if(isPostgres(store), (query) => query.forUpdate().skipLocked())
      .execute()
    const ids = old.map((row) => row.request_id)
    await deleteRequestRows(store, ids)
    return ids.length
  })

async function deleteRequestRows(store: Store, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  for (const table of REQUEST_CHILD_TABLES) {
    await store.deleteFrom(table).where('request_id', 'in', ids).execute()
  }
  await store.deleteFrom('requests').where('request_id', 'in', ids).execute()
}

/** Why something was not deleted: it does not exist, or the request named here needs it. */
export type DeletionRefusal = 'unknown' | { neededBy: string }

/**
 * Deletes a request that has ended, with its logs, webhook and outputs, in a transaction of its
 * own. Its Idempotency-Key stays taken.
 * @returns null once it is deleted
 */
export const deleteRequest = (
  store: Store,
  requestId: string,
  now: string,
): Promise<DeletionRefusal | null> =>
  inTransaction(store, async (store) => {
    const row = await store
      .selectFrom('requests')
      .select('account_id')
      .where('request_id', '=', requestId)
      .where('status', 'not in', UNFINISHED)
      .$if(isPostgres(store), (query) => query.forUpdate())
      .executeTakeFirst()
    if (!row) return 'unknown'
    const neededBy = await findUser(store, row, { source_request_id: requestId })
    if (neededBy !== undefined) return { neededBy }
    await noteRemovals(store, [outputsKey(requestId)], now)
    await forgetAnswer(store, requestId)
    await deleteRequestRows(store, [requestId])
    return null
  })

/**
 * Deletes a file, in a transaction of its own.
 * @returns null once it is deleted; otherwise why it was not
 */
export const deleteFile = (
  store: Store,
  fileId: string,
  now: string,
): Promise<DeletionRefusal | null> =>
  inTransaction(store, async (store) => {
    const row = await store
      .selectFrom('files')
      .select('account_id')
      .where('file_id', '=', fileId)
      .$if(isPostgres(store), (query) => query.forUpdate())
      .executeTakeFirst()
    if (!row) return 'unknown'
    const neededBy = await findUser(store, row, { file_id: fileId })
    if (neededBy !== undefined) return { neededBy }
    await noteRemovals(store, [inputKey(fileId)], now)
    await store.deleteFrom('files').where('file_id', '=', fileId).execute()
    return null
  })

/**
 * Returns an unfinished request of the owner with this source. Call it while the source is locked.
 */
async function findUser(
  store: Store,
  { account_id: accountId }: Pick<RequestRow, 'account_id'>,
  source: Partial<Pick<RequestRow, 'file_id' | 'source_request_id'>>,
): Promise<string | undefined> {
  const row = await store
    .selectFrom('requests')
    .select('request_id')
    .where('account_id', '=', accountId)
    .where('status', 'in', UNFINISHED)
    .where((where) => where.and(source))
    .limit(1)
    .executeTakeFirst()
  return row?.request_id
}

/**
 * Removes the records of files whose bytes were marked for deletion before `before`. Returns how
 * many.
 */
export async function deleteOldFiles(
  store: Store,
  { before, limit }: { before: string; limit: number },
): Promise<number> {
  const old = store
    .selectFrom('files')
    .select('file_id')
    .where('media_removed_at', '<=', before)
    .limit(limit)
    .$if(isPostgres(store), (query) => query.forUpdate().skipLocked())
  const { numDeletedRows } = await store
    .deleteFrom('files')
    .where('file_id', 'in', old)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Returns media that is to be deleted, in the order in which it was noted. */
export async function mediaToRemove(store: Store, limit: number): Promise<string[]> {
  const rows = await store
    .selectFrom('media_removals')
    .select('media_key')
    .orderBy('created_at')
    .limit(limit)
    .execute()
  return rows.map((row) => row.media_key)
}

/** Moves media that could not be deleted to the end of the order. */
export async function putRemovalsOff(store: Store, keys: readonly string[], now: string) {
  await store
    .updateTable('media_removals')
    .set({ created_at: now })
    .where('media_key', 'in', keys)
    .execute()
}

/** Removes the notes of media that has been deleted. */
export async function settleRemovals(store: Store, keys: readonly string[]): Promise<void> {
  await store.deleteFrom('media_removals').where('media_key', 'in', keys).execute()
}

/**
 * Returns the key below which everything can be deleted, if the media stored at or below `key` is
 * no longer needed. That is the key of its whole owner, if the owner is gone or its media is marked
 * for deletion, or `key` itself if an attempt stored it in vain. Returns undefined if the media is
 * needed.
 */
export async function orphanOf(store: Store, key: string): Promise<string | undefined> {
  const owner = ownerOf(key)
  if (owner === undefined) return undefined
  const { table, id } = owner
  if (table === 'files') return (await hasMedia(store, id)) ? undefined : inputKey(id)
  const request = await store
    .selectFrom('requests')
    .select(['request_id', 'outputs'])
    .where('request_id', '=', id)
    .where('media_removed_at', 'is', null)
    .executeTakeFirst()
  if (!request) return outputsKey(id)
  if (request.outputs === null) return undefined
  const isNeeded = outputKeysOf(request).some(
    (neededKey) => neededKey === key || neededKey.startsWith(`${key}/`),
  )
  return isNeeded ? undefined : key
}

/** Returns the keys of everything that a COMPLETED request has stored. */
export function outputKeysOf({ request_id: id, outputs }: StoredOutputs): string[] {
  const files = JSON.parse(outputs ?? '{}') as Record<string, StoredFile & { video?: StoredFile }>
  return Object.entries(files).flatMap(([name, { place, video }]) => [
    outputKey(id, name as OutputPart, place),
    ...(video ? [outputKey(id, `${name}_video` as OutputPart, video.place)] : []),
  ])
}

type StoredOutputs = Pick<RequestRow, 'request_id' | 'outputs'>

/** Marks for deletion what an attempt has stored for a request that no longer exists. */
export const giveUpLateOutputs = (store: Store, requestId: string, now: string): Promise<void> =>
  noteRemovals(store, [outputsKey(requestId)], now)

/**
 * Marks for deletion what other attempts at a COMPLETED request have stored, and the checkpoint and
 * live preview that it may have.
 */
export async function giveUpOutputsOfOtherAttempts(
  store: Store,
  row: StoredOutputs & Pick<RequestRow, 'attempt_ids' | 'duration'>,
  now: string,
): Promise<void> {
  const neededKeys = outputKeysOf(row)
  const places = row.attempt_ids.split(' ').filter(isPlace)
  const otherPlaces = places
    .map((place) => placeKey(row.request_id, place))
    .filter((key) => !neededKeys.some((neededKey) => neededKey.startsWith(`${key}/`)))
  const isLong = row.duration === null || row.duration > CHECKPOINT_MEDIA_SECONDS_MIN
  const temporary = isLong ? [checkpointKey(row.request_id), livePreviewKey(row.request_id)] : []
  await noteRemovals(store, [...otherPlaces, ...temporary], now)
}

async function noteRemovals(store: Store, keys: readonly string[], now: string): Promise<void> {
  if (keys.length === 0) return
  const rows: MediaRemovalRow[] = keys.map((key) => ({ media_key: key, created_at: now }))
  await store
    .insertInto('media_removals')
    .values(rows)
    .onConflict((conflict) => conflict.column('media_key').doNothing())
    .execute()
}
