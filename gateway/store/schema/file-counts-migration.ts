/**
 * Adds how many files each account holds, including pending ones. The triggers that sum up their
 * bytes (`media-migration.ts`) count them in the same statement.
 */

import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../database.ts'
import { addColumn } from './steps.ts'

/** SQL for what a file adds to a sum of its account. */
type Share = (row: 'old' | 'new') => string

const heldOr0 = (row: string, value: string): string =>
  `case when ${row}.media_removed_at is null then ${value} else 0 end`

const BYTES: Share = (row) => heldOr0(row, `${row}.file_size`)
const FILES: Share = (row) => heldOr0(row, '1')

/** The triggers of `files`: how they begin, and what a change of a row adds to a sum. */
const TRIGGERS = [
  { event: 'insert', head: 'insert', row: 'new', change: (share: Share) => share('new') },
  {
    event: 'update',
    head: 'update of file_size, media_removed_at',
    row: 'new',
    change: (share: Share) => `${share('new')} - ${share('old')}`,
  },
  { event: 'delete', head: 'delete', row: 'old', change: (share: Share) => `- ${share('old')}` },
] as const

export async function addFileCounts(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'accounts.media_held_files', 'integer', 0)
  for (const { event, head, row, change } of TRIGGERS) {
    const name = `files_count_${event}`
    const count = `update accounts set
        media_held_bytes = media_held_bytes + (${change(BYTES)}),
        media_held_files = media_held_files + (${change(FILES)})
      where account_id = ${row}.account_id
        and ((${change(BYTES)}) <> 0 or (${change(FILES)}) <> 0);`
    if (isPostgres(db)) {
      const body = `begin ${count} return null; end`
      await sql
        .raw(`create or replace function ${name}() returns trigger language plpgsql as $$${body}$$`)
        .execute(db)
    } else {
      await sql.raw(`drop trigger ${name}`).execute(db)
      await sql
        .raw(`create trigger ${name} after ${head} on files for each row begin ${count} end`)
        .execute(db)
    }
  }
  await sql`update accounts set media_held_files = (
    select count(*) from files
    where files.account_id = accounts.account_id and media_removed_at is null)`.execute(db)
}
