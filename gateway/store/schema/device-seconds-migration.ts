/** Adds what of engines' devices each account used by day, and lists of all accounts by day. */

import type { Kysely } from 'kysely'
import { addColumn, addIndex } from './steps.ts'

export async function addDeviceSeconds(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'usage_days.device_seconds', 'double precision', 0)
  await addColumn(db, 'requests.counted_attempt_ids', 'text', '')
  await addIndex(db, 'usage_days_by_day', 'usage_days', ['day', 'account_id'])
}
