/** Opens a SQLite file: one gateway's database, without anything to set up. */

import { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import { CompiledQuery, Kysely, SqliteDialect, SqliteDriver, type DatabaseConnection } from 'kysely'
import type { Store } from './database.ts'
import { migrate } from './migrate.ts'

/**
 * better-sqlite3 13 needs Node-API 10, which Node 20 lacks; 12, the last for Node 20, aborts on
 * Node 24.19 and later (nodejs/node#65446). Their interface is the same.
 */
const DRIVER = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20'
export const SqliteDatabase = createRequire(import.meta.url)(DRIVER) as typeof BetterSqlite

/**
 * Opens the SQLite file at `path`, makes it where there is none, and migrates it.
 * A committed transaction survives the loss of power.
 * @throws StartError when a newer version has changed it
 */
export async function openSqlite(path: string): Promise<Store> {
  const database = new SqliteDatabase(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('busy_timeout = 5000')
  const dialect = new SqliteDialect({ database })
  dialect.createDriver = () => new ImmediateDriver({ database })
  const store: Store = new Kysely({ dialect })
  database.exec('begin immediate') // so that of two processes that open it, one migrates
  try {
    await migrate(store)
    database.exec('commit')
  } catch (error) {
    database.close() // which undoes what was begun
    throw error
  }
  return store
}

/**
 * Transactions take the right to write at their beginning, and wait for it: after reading first,
 * SQLite would refuse it when another process has written meanwhile.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }
}
