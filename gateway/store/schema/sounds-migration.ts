/** Adds requests that list the sounds of media, and such lists for separations. */

import { sql, type Kysely, type SqlBool } from 'kysely'

export async function addSounds(db: Kysely<any>): Promise<void> {
  await db.schema
    .alterTable('requests')
    // the default is for gateways of earlier versions
    .addColumn('kind', 'text', (column) => column.notNull().defaultTo('separate'))
    .execute()
  await db.schema.alterTable('requests').addColumn('sounds', 'text').execute()
  await db.schema
    .createIndex('requests_by_account_kind')
    .on('requests')
    .columns(['account_id', 'kind', 'created_at', 'request_id'])
    .execute()
  await db.schema
    .createIndex('requests_by_account_kind_status')
    .on('requests')
    .columns(['account_id', 'kind', 'status', 'created_at', 'request_id'])
    .execute()
  await db.schema.dropIndex('requests_timed').execute()
  await db.schema
    .createIndex('requests_timed')
    .on('requests')
    .columns(['kind', 'status', 'finished_at'])
    .where(
      sql<SqlBool>`finished_at is not null and started_at is not null and duration is not null`,
    )
    .execute()
}
