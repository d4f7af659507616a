/**
 * Simulates a gateway of a later release, whose schema has additions that the upgrade rules allow.
 */

import { migrations } from '../../../gateway/store/schema/migrations.ts'

migrations['999-next-release'] = {
  async up(db) {
    await db.schema
      .alterTable('requests')
      .addColumn('rank', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('deliveries').addColumn('note', 'text').execute()
    await db.schema
      .createIndex('requests_by_rank')
      .on('requests')
      .columns(['rank', 'created_at'])
      .execute()
    await db.schema
      .createTable('ranks')
      .addColumn('rank', 'integer', (column) => column.primaryKey())
      .execute()
  },
}
await import('../../../gateway/main.ts')
