/**
 * The media quota of an account: the bytes of its files and outputs, the bytes reserved for outputs
 * of unfinished requests, and the number of its files. Triggers in the database keep these sums
 * (`media-migration.ts`), so they change in the transaction that stores or deletes media, whatever
 * code does so, and that transaction then holds a lock on the account's row.
 */

import { ServiceError } from '../../shared/errors.ts'
import { limitOf, limitText, type Limit } from './limits.ts'
import type { Settings } from '../config.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { accountOf, heldMedia, mediaOf, type HeldMedia } from '../store/accounts.ts'
import type { Store } from '../store/database.ts'
import { firstEndOfOthers } from '../store/files.ts'
import type { AccountRow, FileRow, RequestRow } from '../store/schema/tables.ts'
import type { Clock } from '../../shared/clock.ts'

export type MediaLimits = Settings<
  'filesMaxPerAccount' | 'mediaBytesMaxPerAccount' | 'fileBytesMax'
>

/** The default for media in a bucket, which never fills up. */
const BUCKET_BYTES_MAX = 100e9

/**
 * Returns the default for an account's media limit: half of what all media may take, so that no
 * single account fills the disk.
 */
export async function defaultMediaBytesMax(store: Store, mediaStore: MediaStore): Promise<number> {
  if (mediaStore.kind === 's3') return BUCKET_BYTES_MAX
  const { held } = await heldMedia(store)
  return Math.floor((held + (await mediaStore.bytesLeft())) / 2)
}

/**
 * Checks that a new file fits into the quota; call it in the transaction that has stored it.
 * @throws ServiceError `PAYLOAD_TOO_LARGE`; `MEDIA_QUOTA_EXCEEDED` if the file does not fit
 *   together with the others, including pending ones; `RATE_LIMITED` if there are too many files
 */
export async function assertFileRoom(
  store: Store,
  file: FileRow,
  { clock, config }: { clock: Clock; config: MediaLimits },
): Promise<void> {
  const { file_size: bytes } = file
  const { filesMaxPerAccount: countMax } = config
  const account = await accountOf(store, file) // storing the file has locked this row
  assertFileSize(account, bytes, config)
  const limit = limitOf(account, 'media_bytes', config.mediaBytesMaxPerAccount)
  const media = mediaOf(account)
  const isOneTooMany = media.files > countMax
  if (!isOneTooMany && media.held + media.reserved <= limit.max) return
  const firstEnd = await firstEndOfOthers(store, file)
  const secondsUntil = (end: string) => Math.ceil((Date.parse(end) - clock.now()) / 1_000)
  const retry = firstEnd ? { retryAfterSeconds: Math.max(1, secondsUntil(firstEnd)) } : {}
  if (isOneTooMany) {
    const message =
      `Your account may hold ${countMax} files at once, pending ones included, and this one is ` +
      `too much. The next of them expires at ${firstEnd}.`
    throw new ServiceError('RATE_LIMITED', { message, ...retry })
  }
  const message = tooMuch('The file', bytes, { ...media, held: media.held - bytes }, limit)
  throw new ServiceError('MEDIA_QUOTA_EXCEEDED', { message, ...retry })
}

/** @throws ServiceError `PAYLOAD_TOO_LARGE` for a file larger than the account allows */
export function assertFileSize(
  account: AccountRow,
  bytes: number,
  { fileBytesMax }: Settings<'fileBytesMax'>,
): void {
  const limit = limitOf(account, 'file_bytes', fileBytesMax)
  if (bytes <= limit.max) return
  throw new ServiceError('PAYLOAD_TOO_LARGE', {
    message: `The file has ${bytes} bytes; it may have ${limit.max} at most ${limitText(limit)}.`,
  })
}

/**
 * Checks that an account has any quota left for the outputs of a new request. Their size is unknown
 * yet, so a single free byte is enough. Call it in the transaction that stores the request.
 * @throws ServiceError `MEDIA_QUOTA_EXCEEDED`
 */
export function assertMediaRoom(
  account: AccountRow,
  { mediaBytesMaxPerAccount: byDefault }: Settings<'mediaBytesMaxPerAccount'>,
): void {
  const media = mediaOf(account)
  const limit = limitOf(account, 'media_bytes', byDefault)
  if (media.held + media.reserved < limit.max) return
  throw new ServiceError('MEDIA_QUOTA_EXCEEDED', {
    message: `No output fits: ${standing(media, limit)}`,
  })
}

/**
 * Returns why the bytes just reserved for the outputs of an unfinished request do not fit into the
 * quota.
 * @param row the request before they were reserved
 * @param account the account since then, read in the same transaction
 * @returns null if they fit, or if they are no more than before
 */
export function excessOf(
  { media_bytes: before }: Pick<RequestRow, 'media_bytes'>,
  bytes: number,
  account: AccountRow,
  { mediaBytesMaxPerAccount: byDefault }: Settings<'mediaBytesMaxPerAccount'>,
): string | null {
  const media = mediaOf(account)
  const limit = limitOf(account, 'media_bytes', byDefault)
  if (bytes <= before || media.held + media.reserved <= limit.max) return null
  return tooMuch('The outputs', bytes, { ...media, reserved: media.reserved - bytes }, limit)
}

const tooMuch = (what: string, bytes: number, media: HeldMedia, limit: Limit): string =>
  `${what} would take ${bytesText(bytes)}, but ${standing(media, limit)}`

const standing = ({ held, reserved }: HeldMedia, limit: Limit): string =>
  `the account holds ${bytesText(held)} of the ${bytesText(limit.max)} that it may ` +
  limitText(limit) +
  (reserved > 0 ? `, and ${bytesText(reserved)} are set aside for other requests` : '') +
  '. Delete files or requests that you no longer need, or ask an admin for more.'

const bytesText = (bytes: number): string =>
  bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`
