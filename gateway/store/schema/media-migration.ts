/**
 * Adds how much media each account holds. Triggers count it whatever program changes the rows, so
 * even a gateway of an earlier version leaves the sums right.
 */

import { sql, type Kysely } from 'kysely'
import { isPostgres } from '../database.ts'
import { addColumn } from './steps.ts'

/** SQL for what a row adds to a sum of its account. */
type Share = (row: 'old' | 'new') => string

interface CountedTable {
  table: 'files' | 'requests'
  /** The columns that the shares depend on. */
  columns: readonly string[]
  held: Share
  reserved: Share
}

const COUNTED: readonly CountedTable[] = [
  {
    table: 'files',
    columns: ['file_size', 'media_removed_at'],
    held: (row) => `case when ${row}.media_removed_at is null then ${row}.file_size else 0 end`,
    reserved: () => '0',
  },
  {
    table: 'requests',
    columns: ['media_bytes', 'status', 'media_removed_at'],
    held: (row) =>
      `case when ${row}.status = 'COMPLETED' and ${row}.media_removed_at is null ` +
      `then ${row}.media_bytes else 0 end`,
    reserved: (row) =>
      `case when ${row}.status in ('IN_QUEUE', 'IN_PROGRESS') then ${row}.media_bytes else 0 end`,
  },
]

export async function addMediaLedger(db: Kysely<any>): Promise<void> {
  await addColumn(db, 'accounts.media_held_bytes', 'bigint', 0)
  await addColumn(db, 'accounts.media_reserved_bytes', 'bigint', 0)
  await addColumn(db, 'requests.media_bytes', 'bigint', 0)
  for (const counted of COUNTED) {
    if (isPostgres(db)) await countInPostgres(db, counted)
    else await countInSqlite(db, counted)
  }
  await countFiles(db)
  await countOutputs(db)
}

const EVENTS = [
  { event: 'insert', gone: false, come: true },
  { event: 'update', gone: true, come: true },
  { event: 'delete', gone: true, come: false },
] as const

type EventOf = (typeof EVENTS)[number]

/** SQL for what the change of a row adds to a sum. */
const changeOf = (share: Share, { gone, come }: EventOf): string =>
  `${come ? share('new') : '0'} - ${gone ? share('old') : '0'}`

/** Adds the change of a row to the sums of its account, unless they stay the same. */
const count = ({ held, reserved }: CountedTable, event: EventOf): string =>
  `update accounts set
    media_held_bytes = media_held_bytes + (${changeOf(held, event)}),
    media_reserved_bytes = media_reserved_bytes + (${changeOf(reserved, event)})
  where account_id = ${event.come ? 'new' : 'old'}.account_id
    and (${changeOf(held, event)} <> 0 or ${changeOf(reserved, event)} <> 0);`

const triggerHead = ({ table, columns }: CountedTable, { event }: EventOf): string =>
  `create trigger ${table}_count_${event} after ` +
  `${event === 'update' ? `update of ${columns.join(', ')}` : event} on ${table} for each row`

async function countInSqlite(db: Kysely<any>, counted: CountedTable): Promise<void> {
  for (const event of EVENTS) {
    const body = `begin ${count(counted, event)} end`
    await sql.raw(`${triggerHead(counted, event)} ${body}`).execute(db)
  }
}

async function countInPostgres(db: Kysely<any>, counted: CountedTable): Promise<void> {
  for (const event of EVENTS) {
    const name = `${counted.table}_count_${event.event}`
    const body = `begin ${count(counted, event)} return null; end`
    await sql
      .raw(`create function ${name}() returns trigger language plpgsql as $$${body}$$`)
      .execute(db)
    await sql.raw(`${triggerHead(counted, event)} execute function ${name}()`).execute(db)
  }
}

async function countFiles(db: Kysely<any>): Promise<void> {
  await sql`update accounts set media_held_bytes = media_held_bytes + coalesce((
    select sum(file_size) from files
    where files.account_id = accounts.account_id and media_removed_at is null), 0)`.execute(db)
}

const ROWS_MAX = 1_000

/** Reads the size of stored outputs from what their engines reported; the triggers sum it up. */
async function countOutputs(db: Kysely<any>): Promise<void> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom('requests')
      .select(['request_id', 'outputs'])
      .where('request_id', '>', after)
      .where('status', '=', 'COMPLETED')
      .where('media_removed_at', 'is', null)
      .where('outputs', 'is not', null)
      .orderBy('request_id')
      .limit(ROWS_MAX)
      .execute()
    for (const { request_id: requestId, outputs } of rows) {
      await db
        .updateTable('requests')
        .set({ media_bytes: bytesIn(JSON.parse(outputs)) })
        .where('request_id', '=', requestId)
        .execute()
    }
    if (rows.length < ROWS_MAX) return
    after = rows.at(-1)!.request_id
  }
}

/** Returns the sum of all sizes, including those of videos. */
function bytesIn(outputs: unknown): number {
  if (outputs === null || typeof outputs !== 'object') return 0
  const { bytes } = outputs as { bytes?: unknown }
  const nested = Object.values(outputs).map(bytesIn)
  return nested.reduce((sum, one) => sum + one, typeof bytes === 'number' ? bytes : 0)
}
