/** Adds credits: the balances of accounts, their ledger, and whether a request was charged. */

import { sql, type Kysely } from 'kysely'

export async function addCredits(db: Kysely<any>): Promise<void> {
  await db.schema
    .alterTable('accounts')
    .addColumn('metered', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  // The database itself refuses to overdraw an account, whatever the code does.
  await db.schema
    .alterTable('accounts')
    .addColumn('balance_seconds', 'integer', (column) =>
      column
        .notNull()
        .defaultTo(0)
        .check(sql`balance_seconds >= 0`),
    )
    .execute()
  await db.schema
    .alterTable('accounts')
    .addColumn('reserved_seconds', 'integer', (column) =>
      column
        .notNull()
        .defaultTo(0)
        .check(sql`reserved_seconds >= 0 and reserved_seconds <= balance_seconds`),
    )
    .execute()
  await db.schema
    .alterTable('api_keys')
    .addColumn('name', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema.alterTable('files').addColumn('duration', 'double precision').execute()
  await db.schema.alterTable('requests').addColumn('billing_status', 'text').execute()
  await db.schema
    .createTable('ledger')
    .addColumn('reference', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('balance_change', 'integer', (column) => column.notNull())
    .addColumn('reserved_change', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ledger_key', ['reference', 'kind', 'account_id'])
    .execute()
  await db.schema
    .createIndex('ledger_by_account')
    .on('ledger')
    .columns(['account_id', 'created_at'])
    .execute()
}
