/** Moves an installation from one database to another. */

import { sql } from 'kysely'
import { ServiceError } from '../../shared/errors.ts'
import { inTransaction, type Store } from './database.ts'
import { readSchema } from './schema/schema.ts'
import type { Tables } from './schema/tables.ts'

/**
 * Says of every table whether its rows are copied. Tables that others refer to come first. The rest
 * is made again: gateways make the counts of the last minute, the write probe, the check of their
 * keys and the sessions in browsers; migrations make `schema_use`.
 */
const IS_COPIED: Readonly<Record<keyof Tables, boolean>> = {
  accounts: true,
  api_keys: true,
  files: true,
  requests: true,
  request_logs: true,
  outbox: true,
  ledger: true,
  webhook_endpoints: true,
  deliveries: true,
  idempotency_keys: true,
  media_removals: true,
  write_probe: false,
  rate_windows: false,
  secret_checks: false,
  page_sessions: false,
  changes: true,
  installation: true,
  schema_use: false,
  delivery_attempts: true,
  usage_days: true,
  shares: true,
}

/** Rows per statement, because PostgreSQL accepts at most 65,535 values in one. */
const ROWS_MAX = 500

/** How many rows of each table were copied. */
export type CopiedRows = Partial<Record<keyof Tables, number>>

/**
 * Copies all rows, or none if it throws. Nobody may write to either database in the meantime.
 * @param from a SQLite file, which nobody else can write to until the copy is done
 * @param to a database with the same schema, but without accounts
 * @throws ServiceError `INVALID_PARAMETER` if `to` holds accounts or the schemas differ
 */
export const copyDatabase = (from: Store, to: Store): Promise<CopiedRows> =>
  inTransaction(from, (from) =>
    inTransaction(to, async (to) => {
      await assertSameSchema(from, to)
      const accounts = await to.selectFrom('accounts').select('account_id').limit(1).execute()
      if (accounts.length > 0) {
        const message = 'The database to copy to holds accounts already; give an empty one.'
        throw new ServiceError('INVALID_PARAMETER', { message })
      }
      const copied: CopiedRows = {}
      for (const table of Object.keys(IS_COPIED) as (keyof Tables)[]) {
        if (IS_COPIED[table]) copied[table] = await copyTable(from, to, table)
      }
      return copied
    }),
  )

async function assertSameSchema(from: Store, to: Store): Promise<void> {
  const [source, target] = [await readSchema(from), await readSchema(to)]
  if (source.applied.join() === target.applied.join()) return
  const message =
    `The database to copy has the schema ${source.applied.at(-1)}, the other ` +
    `${target.applied.at(-1)}. Copy with the version of Winnow that serves the first.`
  throw new ServiceError('INVALID_PARAMETER', { message })
}

async function copyTable(from: Store, to: Store, table: keyof Tables): Promise<number> {
  let count = 0
  for (let after = 0; ;) {
    const { rows } = await sql<Row>`
      select rowid as row_number, * from ${sql.table(table)}
      where rowid > ${after} order by rowid limit ${ROWS_MAX}`.execute(from)
    const last = rows.at(-1)
    if (!last) return count
    after = last.row_number
    count += rows.length
    await to
      .insertInto(table)
      .values(rows.map(withoutCounted) as never)
      .execute()
  }
}

/**
 * Leaves out the sums of media, because the triggers of the other database count them as rows
 * arrive.
 */
const withoutCounted = ({
  row_number: _rowNumber,
  media_held_bytes: _heldBytes,
  media_held_files: _heldFiles,
  media_reserved_bytes: _reserved,
  ...row
}: Row) => row

type Row = { row_number: number } & Record<string, unknown>
