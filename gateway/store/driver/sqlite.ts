/** Opens a SQLite file, a database for one gateway that needs no set-up. */

import { open as openFile, type FileHandle } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import type BetterSqlite from 'better-sqlite3'
import { CompiledQuery, Kysely, SqliteDialect, SqliteDriver, type DatabaseConnection } from 'kysely'
import { ServiceError } from '../../../shared/errors.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import type { Store } from '../database.ts'
import { prepareSchema } from '../schema/migrate.ts'
import { OPTIMIZE } from './statistics.ts'

/**
 * better-sqlite3 13 needs Node-API 10, which Node 20 lacks; 12, the last for Node 20, aborts on
 * Node 24.19 and later (nodejs/node#65446). Their interface is the same.
 */
const DRIVER = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20'
export const SqliteDatabase = createRequire(import.meta.url)(DRIVER) as typeof BetterSqlite

/** Errors of the disk, which may pass: full, failing, or read-only. */
const DISK_CODES = /^(SQLITE_(FULL|IOERR|READONLY|CANTOPEN)|EIO$|ENOSPC$|EDQUOT$)/
/** At most this many statements stay compiled. Lists of values make many different ones. */
const STATEMENTS_MAX = 500
/** How many rows of each index the statistics sample, so that checking all tables stays quick. */
const ANALYSIS_ROWS_MAX = 200
/** The longest wait for another process that writes. */
const BUSY_MS_MAX = 5_000
/** The pause between two attempts to get its lock. */
const BUSY_REST_MS = 10
const IS_BUSY = /^SQLITE_BUSY/
/**
 * Hints to clients; nobody can know when there will be room, or when the other process will end.
 */
const RETRY_AFTER_SECONDS = { disk: 30, lock: 5 }

/**
 * Opens the SQLite file at `path`, or creates it. If `migrates` is true, an older schema is brought
 * forward. A committed transaction survives a loss of power. If the disk is full later, writes fail
 * with `SERVICE_UNAVAILABLE`.
 * @throws StartError if the file or its schema cannot be used
 */
export const openSqlite = (path: string, { migrates = false } = {}): Promise<Store> =>
  orStartError(path, () => open(path, migrates))

/**
 * Copies the SQLite file at `path`, whatever its schema, as it is at one moment, to the file `to`,
 * which must not exist yet. It is opened only for reading, and others may go on writing.
 * @throws StartError if it cannot be read, or the copy cannot be written
 */
export const snapshotSqlite = (path: string, to: string): Promise<void> =>
  orStartError(path, async () => {
    const database = new SqliteDatabase(path, { readonly: true, timeout: BUSY_MS_MAX })
    try {
      database.prepare('vacuum into ?').run(to)
    } finally {
      database.close()
    }
  })

async function orStartError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const { code = '', message } = cause as Error & { code?: string }
    if (!code.startsWith('SQLITE_')) throw cause
    throw new StartError(`The database ${path} can't be used: ${message}. ${remedyOf(code)}`, {
      cause,
    })
  }
}

const remedyOf = (code: string): string =>
  code.startsWith('SQLITE_FULL')
    ? 'Free space on its disk.'
    : /CORRUPT|NOTADB/.test(code)
      ? 'Restore it from a backup.'
      : 'Its folder must be on a disk with free space, writable by the user who runs the gateway.'

async function open(path: string, migrates: boolean): Promise<Store> {
  const database = new SqliteDatabase(path, { timeout: BUSY_MS_MAX })
  const hasLog = await keepLog(database)
  database.pragma(`synchronous = ${hasLog ? 'NORMAL' : 'FULL'}`) // the driver flushes the log
  database.pragma('foreign_keys = ON')
  database.pragma(`analysis_limit = ${ANALYSIS_ROWS_MAX}`)
  const dialect = new SqliteDialect({ database })
  dialect.createDriver = () => new FlushingDriver(database, hasLog ? `${path}-wal` : null, migrates)
  const store: Store = new Kysely({ dialect })
  database.exec('begin immediate') // so that of two processes that open it, one migrates
  try {
    await prepareSchema(store, { migrates })
    if (migrates) database.pragma(OPTIMIZE)
    database.exec('commit')
  } catch (error) {
    database.close() // undoes what was begun
    throw error
  }
  database.pragma('busy_timeout = 0') // SQLite would block the event loop; the driver waits
  return store
}

/**
 * Switches the file to a write-ahead log, and returns whether its disk can have one. SQLite doesn't
 * wait for the lock of another process that is making the same new database: it refuses at once.
 */
async function keepLog(database: BetterSqlite.Database): Promise<boolean> {
  const startedAt = performance.now()
  for (;;) {
    try {
      return database.pragma('journal_mode = WAL', { simple: true }) === 'wal'
    } catch (error) {
      if (!IS_BUSY.test(codeOf(error)) || performance.now() - startedAt >= BUSY_MS_MAX) throw error
    }
    await sleep(BUSY_REST_MS)
  }
}

/**
 * Flushes the write-ahead log in a thread after every write, because SQLite itself would keep the
 * whole process waiting. Until then the connection, which is the only one, is taken, so nobody
 * reads what is not durable yet.
 *
 * Transactions take the write lock when they begin, and wait for it. If they read first, SQLite
 * would refuse the lock after another process has written in the meantime. While one waits, others
 * can read. Errors of the disk are for the client to retry, as is a lock that another process does
 * not release.
 */
class FlushingDriver extends SqliteDriver {
  readonly #database: BetterSqlite.Database
  /** Path of the log; null if there is none, so that SQLite flushes by itself. */
  readonly #log: string | null
  /** Open from the first flush on. The file lasts as long as the database is open. */
  #logFile: FileHandle | null = null
  /** True after a failed flush, because another one would not report what the first has lost. */
  #isDoubtful = false

  /**
   * True for a gateway, which renews the statistics when it closes. Tools come and go beside it, so
   * they do not.
   */
  readonly #isGateways: boolean

  constructor(database: BetterSqlite.Database, log: string | null, isGateways: boolean) {
    super({ database: compilingOnce(database) })
    this.#database = database
    this.#log = log
    this.#isGateways = isGateways
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      executeQuery: async <Row>(query: CompiledQuery) => {
        try {
          const result = await this.#onceFree(() => connection.executeQuery<Row>(query))
          const isRead = query.query.kind === 'SelectQueryNode'
          if (!isRead && !this.#database.inTransaction) await this.#flush()
          return result
        } catch (error) {
          throw isOfDisk(error) ? away(error) : error
        }
      },
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
    }
  }

  /**
   * Repeats a statement while another process's lock refuses it. A refused statement does nothing.
   */
  async #onceFree<T>(execute: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    for (;;) {
      try {
        return await execute()
      } catch (error) {
        if (!IS_BUSY.test(codeOf(error))) throw error
        if (performance.now() - startedAt >= BUSY_MS_MAX) throw locked(error)
      }
      await this.#rest()
    }
  }

  /** Pauses. Outside a transaction, others may use the connection in the meantime. */
  async #rest(): Promise<void> {
    if (this.#database.inTransaction) return sleep(BUSY_REST_MS)
    await super.releaseConnection()
    await sleep(BUSY_REST_MS)
    await super.acquireConnection()
  }

  async #flush(): Promise<void> {
    if (this.#log === null) return
    this.#logFile ??= await openFile(this.#log)
    try {
      if (this.#isDoubtful) this.#emptyLog()
      else await this.#logFile.datasync()
      this.#isDoubtful = false
    } catch (error) {
      this.#isDoubtful = true
      throw error
    }
  }

  /** Writes the whole log to the database file. */
  #emptyLog(): void {
    type Progress = { busy: number; log: number; checkpointed: number }
    const [progress] = this.#database.pragma('wal_checkpoint(PASSIVE)') as [Progress]
    if (progress.busy === 0 && progress.checkpointed === progress.log) return
    throw away(new Error('The log could not be emptied: another process reads the database'))
  }

  override async destroy(): Promise<void> {
    await this.#logFile?.close() // waits for a flush in progress
    if (this.#isGateways) this.#renewStatistics()
    await super.destroy()
  }

  #renewStatistics(): void {
    try {
      this.#database.pragma(OPTIMIZE)
    } catch (error) {
      // A lock or a full disk must not keep the database from closing; the next start renews them.
      if (!IS_BUSY.test(codeOf(error)) && !isOfDisk(error)) throw error
    }
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  /** SQLite may already have rolled back a transaction that found the disk full. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }

  override async rollbackToSavepoint(
    ...parameters: Parameters<SqliteDriver['rollbackToSavepoint']>
  ): Promise<void> {
    if (!this.#database.inTransaction) throw away()
    await super.rollbackToSavepoint(...parameters)
  }
}

/**
 * Keeps statements compiled. Compiling takes 33 µs for each of the 40 or so statements of a
 * request.
 */
function compilingOnce(
  database: BetterSqlite.Database,
): Pick<typeof database, 'prepare' | 'close'> {
  const statements = new Map<string, BetterSqlite.Statement>()
  return {
    prepare: ((sql: string) => {
      const statement = statements.get(sql) ?? database.prepare(sql)
      statements.delete(sql) // the latest is last
      statements.set(sql, statement)
      const [oldest] = statements.keys()
      if (statements.size > STATEMENTS_MAX) statements.delete(oldest!)
      return statement
    }) as typeof database.prepare,
    close: () => database.close(),
  }
}

const codeOf = (error: unknown): string => String((Object(error) as { code?: unknown }).code)

const isOfDisk = (error: unknown): boolean => DISK_CODES.test(codeOf(error))

const away = (cause?: unknown) =>
  new ServiceError('SERVICE_UNAVAILABLE', {
    message: 'The database cannot write: its disk is full or failing. Retry later.',
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS.disk,
  })

const locked = (cause: unknown) =>
  new ServiceError('SERVICE_UNAVAILABLE', {
    message:
      `Another process has locked the database for over ${BUSY_MS_MAX / 1_000} s. Nothing was ` +
      'stored; retry later.',
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS.lock,
  })
