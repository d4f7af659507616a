/** Opens a PostgreSQL database, which several gateways may share. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { ServiceError } from '../../../shared/errors.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import type { Store } from '../database.ts'
import { prepareSchema } from '../schema/migrate.ts'

/** Gets a line when the process waits for the database or has lost it. */
export interface WaitLog {
  warn(details: object, message: string): void
}

interface PostgresOptions {
  /** `postgres://user:password@host:port/database?sslmode=…`, as libpq takes it. */
  url: string
  connectionsMax: number
  log: WaitLog
  /** Brings an older schema forward. */
  migrates?: boolean
  /** How long a server that is started together with this process may take to answer. */
  waitMsMax?: number
}

const WAIT_MS_MAX = 60_000
/** The pause between two attempts to connect; it doubles each time. */
const RETRY_DELAY_MS = { least: 250, most: 5_000 }
/** For getting a connection, from the pool or a new one. */
const CONNECT_MS_MAX = 5_000
/** For one statement, including the wait for other transactions' locks. */
const STATEMENT_MS_MAX = 10_000
/** A gateway that has gone away must not hold its locks for longer than this. */
const IDLE_MS_MAX = 30_000
/** A hint to clients; nobody can know how long the database will be away. */
const RETRY_AFTER_SECONDS = 5

/** SQLSTATE of problems that may pass: connections, resources, shutdown, a timeout, a standby. */
const AWAY_STATES = /^(08...|53...|57P0[1-3]|57014|25006)$/
const REFUSED_STATES = /^(28...|42501)$/
const NO_DATABASE_STATE = '3D000'
/** Error codes of a connection that may work again soon. */
const AWAY_CODES = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
]
/** The driver's own errors have no code. */
const AWAY_MESSAGES = /timeout|Connection terminated/

/**
 * Opens the database, and creates its tables if it is empty. Waits for a server that does not
 * answer yet, and logs that. If the server goes away later, every query fails with
 * `SERVICE_UNAVAILABLE`.
 * @throws StartError if no server answers in time, or at once if it cannot be used
 */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { url, connectionsMax, log } = options
  await prepare(options)
  const pool = new pg.Pool({
    ...connectionTo(url),
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    query_timeout: STATEMENT_MS_MAX + CONNECT_MS_MAX, // for a server that has gone silent
    idle_in_transaction_session_timeout: IDLE_MS_MAX,
  })
  pool.on('error', (error) => log.warn({ err: error }, 'lost a connection to the database'))
  surviveLosses(pool)
  return storeOf({
    connect: async () => new GuardedClient(await pool.connect().catch(rethrowAway)),
    end: () => pool.end(),
  })
}

/**
 * Keeps a lost connection from ending the process. If it is lost between two statements of a
 * transaction, the next one fails.
 */
const surviveLosses = (pool: pg.Pool) =>
  pool.on('connect', (client) => client.on('error', () => undefined))

const storeOf = (pool: ConstructorParameters<typeof PostgresDialect>[0]['pool']): Store =>
  new Kysely({ dialect: new PostgresDialect({ pool }) })

/** Waits for the server, checks it and prepares its schema, on a connection of its own. */
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
  pool.on('error', () => undefined) // the broken query fails anyway
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

/** Returns why waiting for the server is of no use, or undefined if it may work soon. */
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

/** Returns an address that may be shown, without user and password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  return `${searchParams.get('host') ?? hostname}:${port || '5432'}${pathname}`
}

/** Reads whole numbers and their sums as numbers, which the driver would return as text. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)
types.setTypeParser(pg.types.builtins.NUMERIC, Number)

function connectionTo(address: string): pg.ClientConfig {
  const url = new URL(address)
  // Without this, the driver interprets sslmode in its own way.
  if (url.searchParams.has('sslmode')) url.searchParams.set('uselibpqcompat', 'true')
  return { connectionString: url.href, types, keepAlive: true, application_name: 'winnow' }
}

/** A connection that turns failures into errors that clients may retry. After one it is closed. */
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

/**
 * PostgreSQL cannot store U+0000. Clients may not send it, but what engines report may contain it.
 */
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
