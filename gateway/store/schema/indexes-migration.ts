/**
 * Adds the indexes with which statements never read rows of other accounts, or whole tables.
 * `test/integration/gateway/store/query-plans.test.ts` checks that for every statement.
 */

import { sql, type Kysely, type SqlBool } from 'kysely'

interface Index {
  on: string
  columns: string[]
  /** The condition of the rows that it holds; absent if it holds all. */
  where?: string
}

const HAS_MEDIA = 'media_removed_at is null'

/** The indexes by name. */
const INDEXES: Readonly<Record<string, Index>> = {
  requests_by_account_status: {
    on: 'requests',
    columns: ['account_id', 'status', 'created_at', 'request_id'],
  },
  requests_failed: {
    on: 'requests',
    columns: ['status', 'created_at', 'request_id'],
    where: "error_code <> 'CANCELED'",
  },
  requests_timed: {
    on: 'requests',
    columns: ['status', 'finished_at'],
    where: 'finished_at is not null and started_at is not null and duration is not null',
  },
  requests_without_media: {
    on: 'requests',
    columns: ['finished_at'],
    where: 'media_removed_at is not null',
  },
  files_by_account_end: { on: 'files', columns: ['account_id', 'expires_at'], where: HAS_MEDIA },
  files_by_end: { on: 'files', columns: ['expires_at'], where: HAS_MEDIA },
  files_by_removal: {
    on: 'files',
    columns: ['media_removed_at'],
    where: 'media_removed_at is not null',
  },
  outbox_by_request: { on: 'outbox', columns: ['request_id'] },
  deliveries_by_time: {
    on: 'deliveries',
    columns: ['next_attempt_at'],
    where: 'next_attempt_at is not null',
  },
  media_removals_by_age: { on: 'media_removals', columns: ['created_at'] },
  page_sessions_by_end: { on: 'page_sessions', columns: ['expires_at'] },
  changes_by_account: { on: 'changes', columns: ['account_id', 'created_at', 'change_id'] },
  changes_by_key: { on: 'changes', columns: ['key_id', 'created_at', 'change_id'] },
}

/** Earlier indexes that these replace, two of them under the same name. */
const REPLACED = ['requests_by_account_status', 'files_by_account', 'files_by_end']

export async function addIndexes(db: Kysely<any>): Promise<void> {
  for (const name of REPLACED) await db.schema.dropIndex(name).execute()
  for (const [name, { on, columns, where }] of Object.entries(INDEXES)) {
    const index = db.schema.createIndex(name).on(on).columns(columns)
    await (where === undefined ? index : index.where(sql.raw<SqlBool>(where))).execute()
  }
}
