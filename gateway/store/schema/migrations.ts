/**
 * All migrations, oldest first. A released migration is never changed. One that takes away what
 * released code needs says in `schema_use` which migration a program must know at least to use the
 * database.
 */

import { sql, type Kysely, type Migration, type SqlBool } from 'kysely'
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
import { addKeyPriorities, addPriorities } from './priorities-migration.ts'
import { addShares } from './shares-migration.ts'
import { addSounds } from './sounds-migration.ts'
import { addUsage } from './usage-migration.ts'

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
  '010-traces': { up: addTraces },
  '012-page-sessions': { up: addPageSessions },
  '013-request-sources': { up: addRequestSources },
  '014-installation': { up: addInstallation },
  '015-session-keys': { up: addSessionKeys },
  '016-changes': { up: addChanges },
  [SCHEMA_USE]: { up: addSchemaUse },
  '018-usage': { up: addUsage },
  '019-media-ledger': { up: addMediaLedger },
  '020-account-states': { up: addAccountStates },
  '021-shares': { up: addShares },
  '022-latest-attempts': { up: addLatestAttempts },
  '023-admin-codes': { up: addAdminCodes },
  '024-indexes': { up: addIndexes },
  '025-file-counts': { up: addFileCounts },
  '026-sounds': { up: addSounds },
  '027-webhook-format': { up: addWebhookFormat },
  '028-own-limits': { up: addOwnLimits },
  '029-admin-names': { up: addAdminNames },
  '030-device-seconds': { up: addDeviceSeconds },
  '031-priorities': { up: addPriorities },
  '032-webhook-endpoints': { up: addWebhookEndpoints },
  '033-key-priorities': { up: addKeyPriorities },
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
  await db.schema
    .createIndex('requests_by_account')
    .on('requests')
    .columns(['account_id', 'created_at', 'request_id'])
    .execute()
  await db.schema
    .createIndex('requests_by_status')
    .on('requests')
    .columns(['status', 'created_at', 'request_id'])
    .execute()
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
  await db.schema
    .createIndex('outbox_by_age')
    .on('outbox')
    .columns(['created_at', 'message_id'])
    .execute()
}

async function addWebhooks(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('requests').addColumn('webhook_url', 'text').execute()
  await db.schema.alterTable('requests').addColumn('webhook_secret', 'text').execute()
  await db.schema
    .alterTable('requests')
    .addColumn('webhook_secret_generated', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
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
  await db.schema
    .createIndex('deliveries_by_next_attempt')
    .on('deliveries')
    .columns(['next_attempt_at', 'webhook_id'])
    .execute()
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
  await db.schema
    .createIndex('idempotency_keys_by_end')
    .on('idempotency_keys')
    .column('expires_at')
    .execute()
  await db.schema
    .createIndex('idempotency_keys_by_request')
    .on('idempotency_keys')
    .column('request_id')
    .execute()
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
  await db.schema.alterTable('files').addColumn('media_removed_at', 'text').execute()
  await db.schema
    .createIndex('files_by_end')
    .on('files')
    .columns(['media_removed_at', 'expires_at'])
    .execute()
  await db.schema.alterTable('requests').addColumn('media_removed_at', 'text').execute()
  await db.schema
    .createIndex('requests_with_media')
    .on('requests')
    .columns(['outputs_expire_at', 'status'])
    .where(sql<SqlBool>`media_removed_at is null`)
    .execute()
  await db.schema
    .createIndex('requests_by_end')
    .on('requests')
    .column('finished_at')
    .where(sql<SqlBool>`finished_at is not null`)
    .execute()
  await db.schema
    .createIndex('requests_by_account_status')
    .on('requests')
    .columns(['account_id', 'status'])
    .execute()
}

/** Adds how often a request was interrupted, and until when its job is delayed. */
async function addReleases(db: Kysely<any>): Promise<void> {
  await db.schema
    .alterTable('requests')
    .addColumn('interruptions', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema.alterTable('outbox').addColumn('not_before', 'text').execute()
}

/**
 * Counts how often the broker refused a job, which is then delayed while the jobs behind it
 * continue.
 */
async function addOutboxTries(db: Kysely<any>): Promise<void> {
  await db.schema
    .alterTable('outbox')
    .addColumn('tries', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}

/** Lets accounts take turns with their webhooks, and adds when the first attempt began. */
async function addWebhookTurns(db: Kysely<any>): Promise<void> {
  await db.schema
    .alterTable('deliveries')
    .addColumn('account_id', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await db.schema.alterTable('deliveries').addColumn('first_attempt_at', 'text').execute()
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
  await db.schema
    .createIndex('deliveries_by_account')
    .on('deliveries')
    .columns(['account_id', 'next_attempt_at', 'webhook_id', 'host'])
    .where(sql<SqlBool>`next_attempt_at is not null`)
    .execute()
}

/**
 * Adds an index for the total size of an account's files, which is read whenever it creates one.
 */
async function addFileQuota(db: Kysely<any>): Promise<void> {
  await db.schema
    .createIndex('files_by_account')
    .on('files')
    .columns(['account_id', 'file_size', 'expires_at'])
    .where(sql<SqlBool>`media_removed_at is null`)
    .execute()
}

/** Lets later work continue the trace that asked for it. */
async function addTraces(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('outbox').addColumn('trace_parent', 'text').execute()
  await db.schema.alterTable('deliveries').addColumn('trace_parent', 'text').execute()
}

/** Adds the page's sessions. */
async function addPageSessions(db: Kysely<any>): Promise<void> {
  await db.schema
    .createTable('page_sessions')
    .addColumn('secret_hash', 'text', (column) => column.primaryKey())
    .addColumn('key_id', 'text', (column) => column.notNull().references('api_keys.key_id'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('page_sessions_by_key')
    .on('page_sessions')
    .columns(['key_id', 'kind', 'expires_at'])
    .execute()
}

/** Adds requests whose media is an output of an earlier one. */
async function addRequestSources(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('requests').addColumn('source_request_id', 'text').execute()
  await db.schema.alterTable('requests').addColumn('source_output', 'text').execute()
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
  await db.schema
    .alterTable('page_sessions')
    .addColumn('key_hash', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
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

/** Adds when an admin disabled or deleted an account. */
async function addAccountStates(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('accounts').addColumn('disabled_at', 'text').execute()
  await db.schema.alterTable('accounts').addColumn('deleted_at', 'text').execute()
}

/** Adds an index for the latest attempts of all webhooks, which admins see. */
async function addLatestAttempts(db: Kysely<any>): Promise<void> {
  await db.schema
    .createIndex('delivery_attempts_by_time')
    .on('delivery_attempts')
    .columns(['started_at', 'attempt_id'])
    .execute()
}

/** Lets each code of the admin page open only one session. */
async function addAdminCodes(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('installation').addColumn('admin_code_expiry', 'text').execute()
}

/** Adds the format of a webhook, for clients of fal. */
async function addWebhookFormat(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('requests').addColumn('webhook_format', 'text').execute()
}

/** Who made a change, of admins who sign in by name. */
async function addAdminNames(db: Kysely<any>): Promise<void> {
  await db.schema.alterTable('changes').addColumn('admin_subject', 'text').execute()
  await db.schema.alterTable('changes').addColumn('admin_name', 'text').execute()
}
