/** Adds what of engines' devices each account used by day, and lists of all accounts by day. */

import type { Kysely } from 'kysely'

export async function addDeviceSeconds(db: Kysely<any>): Promise<void> {
  await db.schema
    .alterTable('usage_days')
    .addColumn('device_seconds', 'double precision', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .alterTable('requests')
    .addColumn('counted_attempt_ids', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema
    .createIndex('usage_days_by_day')
    .on('usage_days')
    .columns(['day', 'account_id'])
    .execute()
}
