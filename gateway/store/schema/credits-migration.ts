/** Adds credits: the balances of accounts, their ledger, and whether a request was charged. */

import { sql, type Kysely } from 'kysely'
import { addColumn, addIndex } from './steps.ts'

export async function addCredits(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'accounts.metered', 'integer', 0)
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
  await addColumn(db, 'api_keys.name', 'text', '')
  await addColumn(db, 'files.duration', 'double precision')
  await addColumn(db, 'requests.billing_status', 'text')
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
  await addIndex(db, 'ledger_by_account', 'ledger', ['account_id', 'created_at'])
}
