/** Adds addresses that play one result without a key. */

import type { Kysely } from 'kysely'
import { addIndex } from './steps.ts'

export async function addShares(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('shares')
    .addColumn('share_id', 'text', (column) => column.primaryKey())
    .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
    // a gateway of an earlier version deletes requests without knowing of shares
    .addColumn('request_id', 'text', (column) =>
      column.notNull().references('requests.request_id').onDelete('cascade'),
    )
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'shares_by_request', 'shares', ['request_id'])
  await addIndex(db, 'shares_by_account', 'shares', ['account_id', 'expires_at'])
  await addIndex(db, 'shares_by_end', 'shares', ['expires_at'])
}
