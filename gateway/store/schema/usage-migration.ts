/**
 * Adds what accounts may look at: the attempts of their webhooks, their use by day, and their
 * files.
 */

import type { Kysely } from 'kysely'
import { addIndex } from './steps.ts'

export async function addUsage(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('delivery_attempts')
    .addColumn('attempt_id', 'text', (column) => column.primaryKey())
    .addColumn('webhook_id', 'text', (column) =>
      column.notNull().references('deliveries.webhook_id').onDelete('cascade'),
    )
    .addColumn('started_at', 'text', (column) => column.notNull())
    .addColumn('duration_ms', 'integer', (column) => column.notNull())
    .addColumn('status_code', 'integer')
    .addColumn('error', 'text')
    .execute()
  await addIndex(db, 'delivery_attempts_by_webhook', 'delivery_attempts', [
    'webhook_id',
    'started_at',
    'attempt_id',
  ])
  await db.schema
    .createTable('usage_days')
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('completed', 'integer', (column) => column.notNull())
    .addColumn('failed', 'integer', (column) => column.notNull())
    .addColumn('audio_seconds', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('usage_days_key', ['account_id', 'day'])
    .execute()
  await addIndex(db, 'files_by_account_age', 'files', ['account_id', 'created_at', 'file_id'])
}
