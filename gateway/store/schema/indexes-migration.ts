/**
 * Adds the indexes with which statements never read rows of other accounts, or whole tables.
 * `test/integration/gateway/store/query-plans.test.ts` checks that for every statement.
 */

import type { Kysely } from 'kysely'
import { addIndex } from './steps.ts'

const HAS_MEDIA = 'media_removed_at is null'

/**
 * The name, table and columns of each index, and the condition of the rows that it holds; without
 * one it holds all rows.
 */
const INDEXES: readonly [name: string, table: string, columns: string[], where?: string][] = [
  ['requests_by_account_status', 'requests', ['account_id', 'status', 'created_at', 'request_id']],
  [
    'requests_failed',
    'requests',
    ['status', 'created_at', 'request_id'],
    "error_code <> 'CANCELED'",
  ],
  [
    'requests_timed',
    'requests',
    ['status', 'finished_at'],
    'finished_at is not null and started_at is not null and duration is not null',
  ],
  ['requests_without_media', 'requests', ['finished_at'], 'media_removed_at is not null'],
  ['files_by_account_end', 'files', ['account_id', 'expires_at'], HAS_MEDIA],
  ['files_by_end', 'files', ['expires_at'], HAS_MEDIA],
  ['files_by_removal', 'files', ['media_removed_at'], 'media_removed_at is not null'],
  ['outbox_by_request', 'outbox', ['request_id']],
  ['deliveries_by_time', 'deliveries', ['next_attempt_at'], 'next_attempt_at is not null'],
  ['media_removals_by_age', 'media_removals', ['created_at']],
  ['page_sessions_by_end', 'page_sessions', ['expires_at']],
  ['changes_by_account', 'changes', ['account_id', 'created_at', 'change_id']],
  ['changes_by_key', 'changes', ['key_id', 'created_at', 'change_id']],
]

/** Earlier indexes that these replace, two of them under the same name. */
const REPLACED = ['requests_by_account_status', 'files_by_account', 'files_by_end']

export async function addIndexes(db: Kysely<any>): Promise<void> {
  for (const name of REPLACED) await db.schema.dropIndex(name).execute()
  for (const index of INDEXES) await addIndex(db, ...index)
}
