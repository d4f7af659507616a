/**
 * All migrations, oldest first. A released migration is never changed. One that takes away what
 * released code needs says in `schema_use` which migration a program must know at least to use the
 * database.
 */

import { sql, type Kysely, type Migration } from 'kysely'
import { addChanges } from './changes-migration.ts'
import { addCredits } from './credits-migration.ts'
import { addDeviceSeconds } from './device-seconds-migration.ts'
import { addAllDeliveries, addWebhookEndpoints } from './endpoints-migration.ts'
import { addFileCounts } from './file-counts-migration.ts'
import { addGateways } from './gateways-migration.ts'
import { addIndexes } from './indexes-migration.ts'
import { addOwnLimits } from './limits-migration.ts'
import { addMediaLedger } from './media-migration.ts'
import { SCHEMA_USE } from './schema.ts'
import { addPriorities } from './priorities-migration.ts'
import { addShares } from './shares-migration.ts'
import { addSounds } from './sounds-migration.ts'
import { addUsage } from './usage-migration.ts'
import { addColumn, addIndex, textColumns } from './steps.ts'

/** By name; they run in the order of their names. */
export const migrations: Record<string, Migration> = {
  '001-requests': { up: createFirstTables },
  '002-webhooks': { up: addWebhooks },
  '003-credits': { up: addCredits },
  '004-limits': { up: addLimits },
  '005-releases': { up: addReleases },
  '006-outbox-tries': { up: addOutboxTries },
  '007-webhook-turns': { up: addWebhookTurns },
  '008-file-quota': { up: addFileQuota },
  '009-gateways': { up: addGateways },
  '010-traces': textColumns('outbox.trace_parent', 'deliveries.trace_parent'),
  '012-page-sessions': { up: addPageSessions },
  '013-request-sources': textColumns('requests.source_request_id', 'requests.source_output'),
  '014-installation': { up: addInstallation },
  '015-session-keys': { up: addSessionKeys },
  '016-changes': { up: addChanges },
  [SCHEMA_USE]: { up: addSchemaUse },
  '018-usage': { up: addUsage },
  '019-media-ledger': { up: addMediaLedger },
  '020-account-states': textColumns('accounts.disabled_at', 'accounts.deleted_at'),
  '021-shares': { up: addShares },
  '022-latest-attempts': { up: addLatestAttempts },
  '023-admin-codes': textColumns('installation.admin_code_expiry'),
  '024-indexes': { up: addIndexes },
  '025-file-counts': { up: addFileCounts },
  '026-sounds': { up: addSounds },
  '027-webhook-format': textColumns('requests.webhook_format'),
  '028-own-limits': { up: addOwnLimits },
  '029-admin-names': textColumns('changes.admin_subject', 'changes.admin_name'),
  '030-device-seconds': { up: addDeviceSeconds },
  '031-priorities': { up: addPriorities },
  '032-webhook-endpoints': { up: addWebhookEndpoints },
  '033-key-priorities': textColumns('api_keys.own_priority'),
  '034-all-deliveries': { up: addAllDeliveries },
}

async function createFirstTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('account_id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('api_keys')
    .addColumn('key_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('key_hash', 'text', (column) => column.notNull().unique())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .addColumn('revoked_at', 'text')
    .execute()
  await db.schema
    .createTable('files')
    .addColumn('file_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('file_name', 'text', (column) => column.notNull())
    .addColumn('content_type', 'text', (column) => column.notNull())
    .addColumn('file_size', 'integer', (column) => column.notNull())
    .addColumn('purpose', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('uploaded_at', 'text')
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
  await createRequestTables(db)
}

async function createRequestTables(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('requests')
    .addColumn('request_id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.account_id'))
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('prompt', 'text', (column) => column.notNull())
    .addColumn('options', 'text', (column) => column.notNull())
    .addColumn('file_id', 'text')
    .addColumn('audio_url', 'text')
    .addColumn('file_name', 'text', (column) => column.notNull())
    .addColumn('metadata', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .addColumn('started_at', 'text')
    .addColumn('finished_at', 'text')
    .addColumn('attempt_id', 'text')
    .addColumn('attempt_ids', 'text', (column) => column.notNull().defaultTo(''))
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('engine_id', 'text')
    .addColumn('job_sequence', 'bigint')
    .addColumn('requeues', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('duration', 'double precision')
    .addColumn('sample_rate', 'integer')
    .addColumn('outputs', 'text')
    .addColumn('outputs_expire_at', 'text')
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .execute()
  await addIndex(db, 'requests_by_account', 'requests', ['account_id', 'created_at', 'request_id'])
  await addIndex(db, 'requests_by_status', 'requests', ['status', 'created_at', 'request_id'])
  await db.schema
    .createTable('request_logs')
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('timestamp', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('request_logs_key', ['request_id', 'position'])
    .execute()
  await db.schema
    .createTable('outbox')
    .addColumn('message_id', 'text', (column) => column.primaryKey())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'outbox_by_age', 'outbox', ['created_at', 'message_id'])
}

async function addWebhooks(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'requests.webhook_url', 'text')
  await addColumn(db, 'requests.webhook_secret', 'text')
  await addColumn(db, 'requests.webhook_secret_generated', 'integer', 0)
  await db.schema
    .createTable('deliveries')
    .addColumn('webhook_id', 'text', (column) => column.primaryKey())
    .addColumn('request_id', 'text', (column) =>
      column.notNull().unique().references('requests.request_id').onDelete('cascade'),
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
    .execute()
  await addIndex(db, 'deliveries_by_next_attempt', 'deliveries', ['next_attempt_at', 'webhook_id'])
}

/** Adds idempotency keys, what retention needs to know, and an index for counting the queue. */
async function addLimits(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('account_id', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('sealed_answer', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_key', ['account_id', 'idempotency_key'])
    .execute()
  await addIndex(db, 'idempotency_keys_by_end', 'idempotency_keys', ['expires_at'])
  await addIndex(db, 'idempotency_keys_by_request', 'idempotency_keys', ['request_id'])
  await db.schema
    .createTable('media_removals')
    .addColumn('media_key', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('write_probe')
    .addColumn('probe_id', 'integer', (column) => column.primaryKey())
    .addColumn('written_at', 'text', (column) => column.notNull())
    .execute()
  await addColumn(db, 'files.media_removed_at', 'text')
  await addIndex(db, 'files_by_end', 'files', ['media_removed_at', 'expires_at'])
  await addColumn(db, 'requests.media_removed_at', 'text')
  await addIndex(
    db,
    'requests_with_media',
    'requests',
    ['outputs_expire_at', 'status'],
    'media_removed_at is null',
  )
  await addIndex(db, 'requests_by_end', 'requests', ['finished_at'], 'finished_at is not null')
  await addIndex(db, 'requests_by_account_status', 'requests', ['account_id', 'status'])
}

/** Adds how often a request was interrupted, and until when its job is delayed. */
async function addReleases(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'requests.interruptions', 'integer', 0)
  await addColumn(db, 'outbox.not_before', 'text')
}

/**
 * Counts how often the broker refused a job, which is then delayed while the jobs behind it
 * continue.
 */
async function addOutboxTries(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'outbox.tries', 'integer', 0)
}

/** Lets accounts take turns with their webhooks, and adds when the first attempt began. */
async function addWebhookTurns(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'deliveries.account_id', 'text', '')
  await addColumn(db, 'deliveries.first_attempt_at', 'text')
  await db
    .updateTable('deliveries')
    .set((row) => ({
      account_id: row
        .selectFrom('requests')
        .select('account_id')
        .whereRef('requests.request_id', '=', 'deliveries.request_id'),
      first_attempt_at: sql`case when attempts > 0 then created_at end`,
    }))
    .execute()
  await db.schema.dropIndex('deliveries_by_next_attempt').execute()
  await addIndex(
    db,
    'deliveries_by_account',
    'deliveries',
    ['account_id', 'next_attempt_at', 'webhook_id', 'host'],
    'next_attempt_at is not null',
  )
}

/**
 * Adds an index for the total size of an account's files, which is read whenever it creates one.
 */
async function addFileQuota(db: Kysely<any>): Promise<void> {
  await addIndex(
    db,
    'files_by_account',
    'files',
    ['account_id', 'file_size', 'expires_at'],
    'media_removed_at is null',
  )
}

async function addPageSessions(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('page_sessions')
    .addColumn('secret_hash', 'text', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull().references('api_keys.key_id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'page_sessions_by_key', 'page_sessions', ['key_id', 'kind', 'expires_at'])
}

/** Adds the installation's id, by which the bucket of another installation is recognized. */
async function addInstallation(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('installation')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('installation_id', 'text', (column) => column.notNull())
    .addColumn('media_place', 'text')
    .execute()
}

/**
 * Adds which secret of a key opened a session. Earlier sessions match no key, because theirs is
 * unknown.
 */
async function addSessionKeys(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'page_sessions.key_hash', 'text', '')
}

/**
 * Adds who may still use the database: one row, which later migrations update when they take
 * something away.
 */
async function addSchemaUse(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('schema_use')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('migration', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .execute()
  await db
    .insertInto('schema_use')
    .values({ name: 'this', migration: SCHEMA_USE, version: '0.3.0' })
    .execute()
}

/** Adds an index for the latest attempts of all webhooks, which admins see. */
async function addLatestAttempts(db: Kysely<any>): Promise<void> {
  await addIndex(db, 'delivery_attempts_by_time', 'delivery_attempts', ['started_at', 'attempt_id'])
}
