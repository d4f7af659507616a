/**
 * Adds webhook endpoints, and lets a request have a delivery to each of them beside the one to its
 * own `webhookUrl`.
 */

import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../database.ts'
import { addColumn, addIndex } from './steps.ts'

export async function addWebhookEndpoints(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('webhook_endpoints')
    .addColumn('endpoint_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('events', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('old_secret', 'text')
    .addColumn('old_secret_ends_at', 'text')
    .addColumn('disabled_at', 'text')
    .addColumn('disabled_reason', 'text')
    .addColumn('failing_since', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'webhook_endpoints_by_account', 'webhook_endpoints', [
    'account_id',
    'created_at',
    'endpoint_id',
  ])
  if (isPostgres(db)) await allowSeveralInPostgres(db)
  else await allowSeveralInSqlite(db)
  await addDeliveryIndexes(db)
}

async function allowSeveralInPostgres(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('deliveries').dropConstraint('deliveries_request_id_key').execute()
  await addColumn(db, 'deliveries.endpoint_id', 'text')
}

const COLUMNS = sql.raw(
  'webhook_id, request_id, host, body, state, attempts, next_attempt_at, claim_id, delivered_at, ' +
    'last_error, created_at, account_id, first_attempt_at, trace_parent',
)

/** SQLite can drop a column's `unique` only by making the table again. */
async function allowSeveralInSqlite(db: Kysely<any>): Promise<void> {
  await createDeliveries(db, 'new_deliveries')
  await sql`insert into new_deliveries (${COLUMNS}) select ${COLUMNS} from deliveries`.execute(db)
  // they go with the table that they refer to
  await sql`create table kept_attempts as select * from delivery_attempts`.execute(db)
  await db.schema.dropTable('deliveries').execute()
  await db.schema.alterTable('new_deliveries').renameTo('deliveries').execute()
  await sql`insert into delivery_attempts select * from kept_attempts`.execute(db)
  await db.schema.dropTable('kept_attempts').execute()
  await addIndex(
    db,
    'deliveries_by_account',
    'deliveries',
    ['account_id', 'next_attempt_at', 'webhook_id', 'host'],
    'next_attempt_at is not null',
  )
  await addIndex(
    db,
    'deliveries_by_time',
    'deliveries',
    ['next_attempt_at'],
    'next_attempt_at is not null',
  )
}

const createDeliveries = (db: Kysely<any>, name: string): Promise<void> =>
  db.schema
    .createTable(name)
    .addColumn('webhook_id', 'text', (column) => column.primaryKey())
    .addColumn('request_id', 'text', (column) =>
      column.notNull().references('requests.request_id').onDelete('cascade'),
    )
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'text')
    .addColumn('claim_id', 'text')
    .addColumn('delivered_at', 'text')
    .addColumn('last_error', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('first_attempt_at', 'text')
    .addColumn('trace_parent', 'text')
    .addColumn('endpoint_id', 'text')
    .execute()

async function addDeliveryIndexes(db: Kysely<any>): Promise<void> {
  // a request has one delivery to each endpoint, and one to its own address
  await sql`create unique index deliveries_by_request
    on deliveries (request_id, coalesce(endpoint_id, ''))`.execute(db)
  await addIndex(
    db,
    'deliveries_by_endpoint',
    'deliveries',
    ['endpoint_id', 'created_at', 'webhook_id', 'state'],
    'endpoint_id is not null',
  )
  await addIndex(
    db,
    'deliveries_waiting_by_endpoint',
    'deliveries',
    ['endpoint_id', 'webhook_id'],
    "endpoint_id is not null and state = 'pending'",
  )
}

/** Adds indexes for the deliveries of all accounts, which admins see. */
export async function addAllDeliveries(db: Kysely<any>): Promise<void> {
  await addIndex(db, 'deliveries_by_age', 'deliveries', ['created_at', 'webhook_id'])
  await addIndex(db, 'deliveries_by_state', 'deliveries', ['state', 'created_at', 'webhook_id'])
}
