/** Opens the database and brings it to the newest schema. */

import { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import {
  CompiledQuery,
  Kysely,
  Migrator,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
} from 'kysely'
import { migrations } from './migrations.ts'
import type { Tables } from './tables.ts'

/**
 * better-sqlite3 13 needs Node-API 10, which Node 20 lacks; 12, the last for Node 20, aborts on
 * Node 24.19 and later (nodejs/node#65446). Their interface is the same.
 */
const DRIVER = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20'
export const SqliteDatabase = createRequire(import.meta.url)(DRIVER) as typeof BetterSqlite

/** The database; within `inTransaction`, that transaction. */
export type Store = Kysely<Tables>

/**
 * Opens the SQLite file at `path`, makes it where there is none, and migrates it.
 * A committed transaction survives the loss of power.
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
 * Transactions take the write lock at their beginning, and wait for it: after a read, SQLite would
 * refuse it when another process has written meanwhile.
 */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }
}

async function migrate(store: Store): Promise<void> {
  const provider = { getMigrations: async () => migrations }
  const { error } = await new Migrator({ db: store, provider }).migrateToLatest()
  if (error)
    throw error instanceof Error ? error : new Error('the migration failed', { cause: error })
}

/** Runs `work` in one transaction: all of it is stored, or, when it throws, nothing. */
export const inTransaction = <T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> =>
  store.transaction().execute(work)
