/** Opens a PostgreSQL, which several gateways may share. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { ServiceError } from '../../../shared/errors.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import type { Store } from '../database.ts'
import { prepareSchema } from '../schema/migrate.ts'

/** Receives a line when the database is waited for, or was lost. */
export interface WaitLog {
  warn(details: object, message: string): void
}

interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`, as libpq has it. */
  url: string
  connectionsMax: number
  log: WaitLog
  /** Brings an older schema forward. */
  migrates?: boolean
  /** A server that is started together with this process may take so long to answer. */
  waitMsMax?: number
}

const WAIT_MS_MAX = 60_000
/** Rest between two tries to connect; doubled with each, up to the most. */
const RETRY_DELAY_MS = { least: 250, most: 5_000 }
/** For a connection, of the pool's or a new one. */
const CONNECT_MS_MAX = 5_000
/** For one statement, waits for others' locks included. */
const STATEMENT_MS_MAX = 10_000
/** Longer than that a gateway that went away must not hold what it has locked. */
const IDLE_MS_MAX = 30_000
/** A hint to clients; how long a database is away cannot be known. */
const RETRY_AFTER_SECONDS = 5

/** SQLSTATE: trouble of connections or resources, shutdown, a time-out, a standby. */
const AWAY_STATES = /^(08...|53...|57P0[1-3]|57014|25006)$/
const REFUSED_STATES = /^(28...|42501)$/
const NO_DATABASE_STATE = '3D000'
/** Codes of a connection that may work soon. */
const AWAY_CODES = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
]
/** The driver's own errors have no code. */
const AWAY_MESSAGES = /timeout|Connection terminated/

/**
 * Opens the database, and makes its tables where it is empty; waits for a server that does not
 * answer yet, and says so.
 * While it is away later, every query fails with `SERVICE_UNAVAILABLE`.
 * @throws StartError when nobody answers in time, and at once when it can't be used
 */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { url, connectionsMax, log } = options
  await prepare(options)
  const pool = new pg.Pool({
    ...connectionTo(url),
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    query_timeout: STATEMENT_MS_MAX + CONNECT_MS_MAX, // of a server that is silent
    idle_in_transaction_session_timeout: IDLE_MS_MAX,
  })
  pool.on('error', (error) => log.warn({ err: error }, 'lost a connection to the database'))
  surviveLosses(pool)
  return storeOf({
    connect: async () => new GuardedClient(await pool.connect().catch(rethrowAway)),
    end: () => pool.end(),
  })
}

/** One that is lost between two statements of a transaction fails the next; it ends no process. */
const surviveLosses = (pool: pg.Pool) =>
  pool.on('connect', (client) => client.on('error', () => undefined))

const storeOf = (pool: ConstructorParameters<typeof PostgresDialect>[0]['pool']): Store =>
  new Kysely({ dialect: new PostgresDialect({ pool }) })

/** Waits for the server, checks it and prepares its schema: on a connection of its own. */
async function prepare(options: PostgresOptions): Promise<void> {
  const { url, log, migrates = false, waitMsMax = WAIT_MS_MAX } = options
  const place = placeOf(url)
  const startedAt = performance.now()
  for (
    let retryDelayMs = RETRY_DELAY_MS.least;
    ;
    retryDelayMs = Math.min(retryDelayMs * 2, RETRY_DELAY_MS.most)
  ) {
    try {
      return await prepareOnce(url, migrates)
    } catch (cause) {
      if (cause instanceof StartError) throw cause
      const { message } = cause as Error
      const refusal = refusalOf(cause, place)
      if (refusal !== undefined) throw new StartError(`DATABASE_URL: ${refusal}`, { cause })
      if (performance.now() - startedAt + retryDelayMs > waitMsMax) {
        throw new StartError(
          `DATABASE_URL: no database answers at ${place} (${message}), after ` +
            `${waitMsMax / 1_000} s. Start PostgreSQL there, or correct DATABASE_URL.`,
          { cause },
        )
      }
      if (retryDelayMs === RETRY_DELAY_MS.least) {
        log.warn({ place, reason: message }, 'the database does not answer yet: waiting for it')
      }
    }
    await sleep(retryDelayMs)
  }
}

async function prepareOnce(url: string, migrates: boolean): Promise<void> {
  const pool = new pg.Pool({
    ...connectionTo(url),
    max: 1,
    connectionTimeoutMillis: CONNECT_MS_MAX,
  })
  pool.on('error', () => undefined) // what it breaks fails by itself
  surviveLosses(pool)
  const store = storeOf(pool)
  try {
    const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(store)
    const encoding = rows[0]?.server_encoding
    if (encoding !== 'UTF8') {
      throw new StartError(
        `DATABASE_URL: the database at ${placeOf(url)} keeps text as ${encoding}. Create one ` +
          "with ENCODING 'UTF8'.",
      )
    }
    await prepareSchema(store, { migrates })
  } finally {
    await store.destroy()
  }
}

/** Why the server can't be used however long one waits; undefined: it may be soon. */
function refusalOf(error: unknown, place: string): string | undefined {
  const { code = '', message } = error as Error & { code?: string }
  if (error instanceof pg.DatabaseError) {
    if (AWAY_STATES.test(code)) return undefined
    if (code === NO_DATABASE_STATE) return `${message} at ${place}. Create it, or correct the name.`
    if (REFUSED_STATES.test(code)) {
      return (
        `the database at ${place} refuses this user (${message}). Correct user and password, and ` +
        'give the user the right to create tables there.'
      )
    }
    return `the database at ${place} can't be used (${message}).`
  }
  if (AWAY_CODES.includes(code) || AWAY_MESSAGES.test(message)) return undefined
  return `no connection to the database at ${place} can be made (${message}).`
}

/** An address that may be shown: no user and no password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`
}

/** Whole numbers as numbers, sums of them too; the driver would give texts. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.NUMERIC, Number)

function connectionTo(address: string): pg.ClientConfig {
  const url = new URL(address)
  // Without it the driver has meanings of its own for sslmode.
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true')
  return { connectionString: url.href, types, keepAlive: true, application_name: 'winnow' }
}

/** A connection whose trouble is the client's to retry; then it is not used any more. */
class GuardedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient
  #broken = false

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  /** Cursors are part of the interface, and unused. */
  query = (async (text: string, values: readonly unknown[] = []) => {
    try {
      return await this.#client.query(text, values.map(withoutNul))
    } catch (error) {
      this.#broken ||= isAway(error)
      return rethrowAway(error)
    }
  }) as unknown as PostgresPoolClient['query']

  release(): void {
    this.#client.release(this.#broken)
  }
}

/** PostgreSQL keeps no U+0000, which clients may not send; what engines report may hold one. */
const withoutNul = (value: unknown): unknown =>
  typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value

const isAway = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || AWAY_STATES.test(error.code ?? '')

function rethrowAway(error: unknown): never {
  if (!isAway(error)) throw error
  throw new ServiceError('SERVICE_UNAVAILABLE', {
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
