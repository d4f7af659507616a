/**
 * The ledger of media: the bytes that an account holds of files and outputs, those set aside for
 * the outputs of requests under way, and how many files there are. The database keeps the sums by
 * triggers (`media-migration.ts`): what is stored, deleted or given up anywhere counts in its
 * transaction, which holds the account's row from then on.
 */

import { ServiceError } from '../../shared/errors.ts'
import { limitOf, limitText, type Limit } from './limits.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import { accountOf, heldMedia, mediaOf, type HeldMedia } from '../store/accounts.ts'
import type { Store } from '../store/database.ts'
import { firstEndOfOthers } from '../store/files.ts'
import type { AccountRow, FileRow, RequestRow } from '../store/schema/tables.ts'
import type { Clock } from '../../shared/clock.ts'

/** The limits of what one account holds. */
export interface MediaLimits {
  /** Files at once, pending ones included. */
  filesMaxPerAccount: number
  /** For files, outputs, and what is set aside for outputs. */
  mediaBytesMaxPerAccount: number
  /** Of one file. */
  fileBytesMax: number
}

/** In a bucket, which has no end. */
const BUCKET_BYTES_MAX = 100e9

/**
 * Default of an account's media limit: half of what media may take, so that no account alone fills
 * the disk.
 */
export async function defaultMediaBytesMax(store: Store, mediaStore: MediaStore): Promise<number> {
  if (mediaStore.kind === 's3') return BUCKET_BYTES_MAX
  const { held } = await heldMedia(store)
  return Math.floor((held + (await mediaStore.bytesLeft())) / 2)
}

/**
 * Call it in the transaction that has stored a new file of the account.
 * @throws ServiceError `MEDIA_QUOTA_EXCEEDED` when it does not fit, pending ones counted, or
 *   `RATE_LIMITED` when there are too many
 */
export async function assertFileRoom(
  store: Store,
  file: FileRow,
  { clock, config }: { clock: Clock; config: MediaLimits },
): Promise<void> {
  const { file_size: bytes } = file
  const { filesMaxPerAccount: countMax } = config
  const account = await accountOf(store, file) // whose row is ours since that was stored
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

/** @throws ServiceError `PAYLOAD_TOO_LARGE` for a file that is larger than the account's may be */
export function assertFileSize(
  account: AccountRow,
  bytes: number,
  { fileBytesMax }: Pick<MediaLimits, 'fileBytesMax'>,
): void {
  const limit = limitOf(account, 'file_bytes', fileBytesMax)
  if (bytes <= limit.max) return
  throw new ServiceError('PAYLOAD_TOO_LARGE', {
    message: `The file has ${bytes} bytes; it may have ${limit.max} at most ${limitText(limit)}.`,
  })
}

/**
 * For the account of a request that is stored in the same transaction: as long as nobody knows how
 * much its outputs will take, something must be free.
 * @throws ServiceError `MEDIA_QUOTA_EXCEEDED`
 */
export function assertMediaRoom(
  account: AccountRow,
  { mediaBytesMaxPerAccount: byDefault }: Pick<MediaLimits, 'mediaBytesMaxPerAccount'>,
): void {
  const media = mediaOf(account)
  const limit = limitOf(account, 'media_bytes', byDefault)
  if (media.held + media.reserved < limit.max) return
  throw new ServiceError('MEDIA_QUOTA_EXCEEDED', {
    message: `No output fits: ${standing(media, limit)}`,
  })
}

/**
 * Judges the bytes that were set aside for the outputs of a request under way.
 * @param row the request as it was before
 * @param account as it is since then, in the same transaction
 * @returns why they do not fit; null: they do, or are no more than before
 */
export function excessOf(
  { media_bytes: before }: Pick<RequestRow, 'media_bytes'>,
  bytes: number,
  account: AccountRow,
  { mediaBytesMaxPerAccount: byDefault }: Pick<MediaLimits, 'mediaBytesMaxPerAccount'>,
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
  '. Delete files or requests that you no longer need, or ask the operator for more.'

const bytesText = (bytes: number): string =>
  bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`
