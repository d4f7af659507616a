/** Adds what gateways share besides their work: counts of calls, and a check of their secrets. */

import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../database.ts'

export async function addGateways(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('rate_windows')
    .addColumn('key_id', 'text', (column) => column.primaryKey())
    .addColumn('calls', 'integer', (column) => column.notNull())
    .addColumn('ends_at', 'text', (column) => column.notNull())
    .execute()
  // A crash may lose these rows, so no commit waits for the disk.
  if (isPostgres(db)) await sql`alter table rate_windows set unlogged`.execute(db)
  await db.schema
    .createTable('secret_checks')
    .addColumn('check_id', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .execute()
}
