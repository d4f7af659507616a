/** Opens the gateway's database for one check. The drivers are loaded only here. */

import type { Client } from 'pg'
import type { SqliteDatabase } from '../../../gateway/store/driver/sqlite.ts'

type Sqlite = InstanceType<typeof SqliteDatabase>

const CONNECT_MS_MAX = 5_000

/** @throws whatever opening and `read` throw */
export async function inSqlite<T>(path: string, read: (database: Sqlite) => T): Promise<T> {
  const { SqliteDatabase } = await import('../../../gateway/store/driver/sqlite.ts')
  const database = new SqliteDatabase(path, { fileMustExist: true, timeout: CONNECT_MS_MAX })
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** @throws whatever connecting and `read` throw */
export async function inPostgres<T>(url: string, read: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS_MAX })
  client.on('error', () => undefined) // a lost connection shows at the next query
  try {
    await client.connect()
    return await read(client)
  } finally {
    await client.end().catch(() => undefined) // a connection that was never made cannot be ended
  }
}
