/** Makes sure that with SQLite only one gateway works on a data folder. */

import { join, resolve } from 'node:path'
import { takeLock } from '../../../shared/process/file-lock.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import type { WaitLog } from './postgres.ts'

/** A gateway whose supervisor was killed stops by itself within this time. */
const WAIT_MS_MAX = 40_000

/**
 * Keeps other gateways off the folder while this process lives. Otherwise each would delete at its
 * start what another is receiving, and requests would go to two brokers. With `log`, waits for a
 * gateway that is stopping, and logs that.
 * @throws StartError if another gateway works on the folder
 */
export async function holdDataFolder(dataFolder: string, log?: WaitLog): Promise<void> {
  const holder = await takeLock(join(dataFolder, 'gateway.lock'), {
    waitMsMax: log ? WAIT_MS_MAX : 0,
    onWait: (other) =>
      log?.warn({ dataFolder, other }, 'another gateway works on DATA_DIR: waiting for its end'),
  })
  if (holder === null) return
  throw new StartError(
    `Another gateway works on ${resolve(dataFolder)} (${holder}). Stop that one, or set DATA_DIR ` +
      'to another folder: only with a PostgreSQL (DATABASE_URL) do several gateways work together.',
  )
}
