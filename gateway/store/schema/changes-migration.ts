/** Adds the record of changes to accounts and keys, and when keys were last used. */

import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../database.ts'
import { addColumn, addIndex } from './steps.ts'

export async function addChanges(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'api_keys.last_used_at', 'text')
  await db.schema
    .createTable('changes')
    .addColumn('change_id', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('origin', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text')
    .addColumn('key_id', 'text')
    .addColumn('details', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'changes_by_time', 'changes', ['created_at', 'change_id'])
  // The database itself refuses to alter the record, whatever the code does.
  if (isPostgres(db)) await refuseInPostgres(db)
  else await refuseInSqlite(db)
}

const REFUSAL = sql.lit('the record of changes is only added to')

async function refuseInSqlite(db: Kysely<any>): Promise<void> {
  for (const event of ['update', 'delete']) {
    await sql`create trigger ${sql.id(`changes_refuse_${event}`)} before ${sql.raw(event)}
      on changes begin select raise(abort, ${REFUSAL}); end`.execute(db)
  }
}

async function refuseInPostgres(db: Kysely<any>): Promise<void> {
  const body = sql.lit(
    "begin raise exception using message = 'the record of changes is only added to'; end",
  )
  await sql`create function refuse_change() returns trigger language plpgsql as ${body}`.execute(db)
  await sql`create trigger changes_refuse before update or delete or truncate on changes
    for each statement execute function refuse_change()`.execute(db)
}
