/** Limits how much media the files of one account hold, since all accounts share the disk. */

import { isoTime } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { Deps } from '../deps.ts'
import { oneAtATime, type Store } from '../store/database.ts'
import { heldFiles } from '../store/files.ts'

/**
 * Call it in the transaction that has stored a new file of the account.
 * @throws ServiceError `RATE_LIMITED` when its files, pending ones too, hold more than they may
 */
export async function assertFileRoom(
  store: Store,
  accountId: string,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
): Promise<void> {
  await oneAtATime(store, `files ${accountId}`)
  const { count, bytes, firstEnd } = await heldFiles(store, accountId)
  const { filesMaxPerAccount: countMax, fileBytesMaxPerAccount: bytesMax } = config
  if (count <= countMax && bytes <= bytesMax) return
  const retryAfterSeconds = Math.max(1, Math.ceil((Date.parse(firstEnd) - clock.now()) / 1_000))
  const most = count > countMax ? `${countMax} files` : `${bytesMax} bytes of files`
  throw new ServiceError('RATE_LIMITED', {
    message:
      `Your account may hold ${most} at once, pending ones included, and this one is too ` +
      `much. The next of them expires at ${isoTime(Date.parse(firstEnd))}.`,
    retryAfterSeconds,
  })
}
