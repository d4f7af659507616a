/** Adds limits that an admin sets for an account or a key; null where the settings apply. */

import type { Kysely } from 'kysely'
import { addColumn } from './steps.ts'

export async function addOwnLimits(db: Kysely<any>): Promise<void> {
  for (const name of [
    'calls_per_minute',
    'queued_requests',
    'concurrent_jobs',
    'media_bytes',
    'seconds_per_month',
    'streams',
    'file_bytes',
  ]) {
    await addColumn(db, `accounts.max_${name}`, 'bigint')
  }
  await addColumn(db, 'api_keys.own_calls_per_minute', 'integer')
}
