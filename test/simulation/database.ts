/**
 * The gateways' database: SQLite in memory, behind a driver that may be late, fail, fail after taking
 * effect, or die with its process. All gateways' transactions take turns, as on one SQLite file.
 */

import type { Database, Statement } from 'better-sqlite3'
import {
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely'
import type { Store } from '../../gateway/store/database.ts'
import { prepareSchema } from '../../gateway/store/schema/migrate.ts'
import { SqliteDatabase } from '../../gateway/store/driver/sqlite.ts'
import type { Tables } from '../../gateway/store/schema/tables.ts'
import { CALL_FAULTS, type Calls } from './calls.ts'
import { never, type Process } from './scheduler.ts'

/** The faults of a call; but a statement that is slow also holds up all others. */
const FAULTS = CALL_FAULTS.map((fault) => (fault === 'slow' ? 'stalls' : fault))
type Fault = (typeof FAULTS)[number]
const LATE_MS = { ordinary: [0.1, 2], late: [1, 40], stalls: [1_000, 40_000] } as const
/** Share of statements after which other events get a turn. */
const YIELDS = 0.1

let migrated: Promise<Buffer> | undefined

/** Returns the bytes of a database with all tables and no rows. */
export function emptyDatabase(): Promise<Buffer> {
  migrated ??= (async () => {
    const database = new SqliteDatabase(':memory:')
    const store: Store = new Kysely({ dialect: new SqliteDialect({ database }) })
    await prepareSchema(store, { migrates: true })
    return database.serialize()
  })()
  return migrated
}

interface LockWaiter {
  owner: Process
  grant: () => void
}

export class DatabaseServer {
  readonly raw: Database
  /** Whether statements fail because the database is unreachable. */
  away = false
  readonly #calls: Calls
  readonly #statements = new Map<string, Statement>()
  readonly #waiting: LockWaiter[] = []
  #holder: Process | null = null

  constructor(bytes: Buffer, calls: Calls) {
    this.raw = new SqliteDatabase(bytes)
    this.raw.pragma('foreign_keys = ON')
    this.#calls = calls
  }

  /** Returns the store as `owner` sees it. */
  connect(owner: Process): Store {
    owner.onDeath(() => this.#died(owner))
    return new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new SimulatedDriver(this, owner),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    })
  }

  /** Prepares a statement for observers outside the simulation. */
  statement(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (!statement) {
      statement = this.raw.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  acquire(owner: Process): Promise<void> {
    if (!owner.alive) return never()
    if (this.#holder === null) {
      this.#holder = owner
      return Promise.resolve()
    }
    return new Promise((grant) => this.#waiting.push({ owner, grant }))
  }

  /** Ends the owner's turn; rolls back a transaction that it left open. */
  release(owner: Process): void {
    if (this.#holder !== owner) return
    if (this.raw.inTransaction) this.raw.exec('rollback')
    this.#holder = null
    const next = this.#waiting.shift()
    if (!next) return
    this.#holder = next.owner
    this.#calls.scheduler.schedule(next.owner, 0, `${next.owner.name} database turn`, next.grant)
  }

  /** Runs a statement for `owner`; `name` identifies it in the names of faults. */
  run(owner: Process, name: string, query: CompiledQuery): Promise<QueryResult<never>> {
    const { choices, scheduler } = this.#calls
    if (!owner.alive) return never()
    const place = `${owner.name} ${name}`
    if (this.away && name !== 'rollback') return Promise.reject(new Error('the database is away'))
    const fault = isExempt(name) ? undefined : choices.fault(place, FAULTS)
    const isLate = fault === 'stalls' || fault === 'late'
    if (isLate || (!fault && choices.random(`${place} yields`) < YIELDS)) {
      const [least, most] = LATE_MS[isLate ? fault : 'ordinary']
      const ms = choices.between(`${place} latency`, least, most)
      return scheduler.delay(owner, ms, place).then(() => this.#execute(query))
    }
    return this.#faulty(owner, fault, query)
  }

  #faulty(
    owner: Process,
    fault: Fault | undefined,
    query: CompiledQuery,
  ): Promise<QueryResult<never>> {
    if (fault === 'crash before') {
      owner.kill()
      return never()
    }
    if (fault === 'fails') return Promise.reject(new Error('the database failed'))
    let result: QueryResult<never>
    try {
      result = this.#execute(query)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    if (fault === 'unanswered') return Promise.reject(new Error('the database did not answer'))
    if (fault !== 'crash after') return Promise.resolve(result)
    owner.kill()
    return never()
  }

  #execute({ sql, parameters }: CompiledQuery): QueryResult<never> {
    if (sql === 'rollback' && !this.raw.inTransaction) return { rows: [] }
    const statement = this.statement(sql)
    if (statement.reader) return { rows: statement.all(parameters) as never[] }
    return { numAffectedRows: BigInt(statement.run(parameters).changes), rows: [] }
  }

  #died(owner: Process): void {
    for (let i = this.#waiting.length - 1; i >= 0; i -= 1) {
      if (this.#waiting[i]!.owner === owner) this.#waiting.splice(i, 1)
    }
    this.release(owner)
  }
}

/** Exempts statements that are undone anyway, or that take effect together with the next one. */
const isExempt = (name: string) => name === 'rollback' || name === 'savepoint'

class SimulatedDriver implements Driver {
  readonly #server: DatabaseServer
  readonly #owner: Process
  readonly #connection: DatabaseConnection

  constructor(server: DatabaseServer, owner: Process) {
    this.#server = server
    this.#owner = owner
    this.#connection = {
      executeQuery: (query) => server.run(owner, nameOf(query.sql), query) as Promise<never>,
      async *streamQuery() {
        throw new Error('nothing is streamed')
      },
    }
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#server.acquire(this.#owner)
    return this.#connection
  }

  beginTransaction = () => this.#raw('begin immediate', 'begin')
  commitTransaction = () => this.#raw('commit', 'commit')
  rollbackTransaction = () => this.#raw('rollback', 'rollback')
  savepoint = (_connection: DatabaseConnection, name: string) =>
    this.#raw(`savepoint ${name}`, 'savepoint')
  rollbackToSavepoint = (_connection: DatabaseConnection, name: string) =>
    this.#raw(`rollback to ${name}`, 'savepoint')
  releaseSavepoint = (_connection: DatabaseConnection, name: string) =>
    this.#raw(`release ${name}`, 'savepoint')

  async releaseConnection(): Promise<void> {
    this.#server.release(this.#owner)
  }

  async destroy(): Promise<void> {}

  async #raw(sql: string, name: string): Promise<void> {
    await this.#server.run(this.#owner, name, { sql, parameters: [] } as unknown as CompiledQuery)
  }
}

/** Returns the verb and the first table of a statement: `update "requests"`. */
function nameOf(sql: string): string {
  const verb = sql.slice(0, sql.indexOf(' '))
  const [, table = ''] =
    /"(\w+)"/.exec(verb === 'select' ? sql.slice(sql.indexOf(' from ')) : sql) ?? []
  return `${verb} ${table}`
}
