/** Adds the priority class of requests, and the highest one of each account. */

import type { Kysely } from 'kysely'

export async function addPriorities(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('own_priority', 'text').execute()
  await db.schema
    .alterTable('requests')
    .addColumn('priority', 'text', (column) => column.notNull().defaultTo('interactive'))
    .execute()
  await db.schema
    .alterTable('outbox')
    .addColumn('is_batch', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createIndex('outbox_by_turn')
    .on('outbox')
    .columns(['is_batch', 'created_at', 'message_id'])
    .execute()
}

/** Adds the highest class of requests with a key. */
export async function addKeyPriorities(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('api_keys').addColumn('own_priority', 'text').execute()
}
