/**
 * Saves and restores the database of an installation, SQLite or PostgreSQL, as one file of a
 * backup.
 */

import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadDatabaseConfig } from '../../../gateway/config.ts'
import { snapshotSqlite, SqliteDatabase } from '../../../gateway/store/driver/sqlite.ts'
import { assertThere } from './files.ts'

export interface Database {
  /** Name of its file in a backup. */
  file: string
  /** Whether several gateways may share it, whose keys come from files of the admin. */
  isShared: boolean
  /**
   * Writes it to a new file, as of a single moment.
   * @throws Error if there is none
   */
  save(path: string): Promise<void>
  /** @throws Error if it already contains something */
  assertEmpty(): Promise<void>
  /** Replaces its contents with those of the file; all or nothing. */
  load(path: string): Promise<void>
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * The database of DATABASE_URL, or SQLite's in the data folder.
 * @param signal ends PostgreSQL's programs
 * @throws SettingsError
 */
export function databaseOf(env: Env, dataFolder: string, signal: AbortSignal): Database {
  const { databaseUrl } = loadDatabaseConfig({ DATABASE_URL: env.DATABASE_URL })
  if (databaseUrl === undefined) return sqlite(join(dataFolder, SQLITE_FILE))
  return postgres({ url: databaseUrl, env, signal })
}

const SQLITE_FILE = 'winnow.db'

const sqlite = (database: string): Database => ({
  file: SQLITE_FILE,
  isShared: false,
  async save(path) {
    await assertThere(database, 'DATA_DIR must name the data of an installation')
    await snapshotSqlite(database, path)
    withoutSessions(path)
  },
  async assertEmpty() {}, // it is in the data folder, which must be empty
  load: (path) => copyFile(path, database, constants.COPYFILE_FICLONE),
})

/** Nobody should be signed in after a restore. */
const SESSIONS = 'page_sessions'

function withoutSessions(path: string): void {
  const database = new SqliteDatabase(path)
  try {
    const exists = database.prepare('select 1 from sqlite_master where name = ?').get(SESSIONS)
    if (exists) database.exec(`delete from ${SESSIONS}`) // earlier versions have no such table
  } finally {
    database.close()
  }
}

interface Server {
  url: string
  env: Env
  signal: AbortSignal
}

const TABLES =
  "select count(*) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')"
/** The user who restores owns everything, and need not be the user who saved. */
const OWNERLESS = ['--no-owner', '--no-privileges']

const postgres = (server: Server): Database => ({
  file: 'winnow.pgdump',
  isShared: true,
  async save(path) {
    const words = ['--format=custom', `--exclude-table-data=${SESSIONS}`, ...OWNERLESS]
    await run('pg_dump', [...words, `--file=${path}`], server)
  },
  async assertEmpty() {
    const words = ['--no-psqlrc', '--tuples-only', '--no-align', `--command=${TABLES}`]
    const tables = await run('psql', words, server)
    if (tables.trim() === '0') return
    throw new Error('The database of DATABASE_URL must be empty: create another to restore into.')
  },
  async load(path) {
    const words = ['--single-transaction', '--exit-on-error', ...OWNERLESS, path]
    await run('pg_restore', words, server)
  },
})

/**
 * @returns standard output
 * @throws Error with what the program said, or how to install it
 */
async function run(
  program: string,
  args: readonly string[],
  { url: address, env, signal }: Server,
): Promise<string> {
  const url = new URL(address)
  const password = decodeURIComponent(url.password)
  url.password = '' // other users of the machine can see command lines
  const secret = password === '' ? {} : { PGPASSWORD: password }
  try {
    const words = [`--dbname=${url.href}`, ...args]
    return (await promisify(execFile)(program, words, { env: { ...env, ...secret }, signal }))
      .stdout
  } catch (error) {
    const { code, stderr, message } = error as Error & { code?: unknown; stderr?: string }
    if (code === 'ENOENT') throw new Error(`${program} is missing. ${INSTALL}`, { cause: error })
    const said = stderr?.trim() || message
    const advice = said.includes('server version mismatch') ? `\n${INSTALL}` : ''
    throw new Error(`${said}${advice}`, { cause: error })
  }
}

const INSTALL =
  "Install PostgreSQL's client programs, of the server's version or a later one: " +
  'sudo apt-get install -y postgresql-client'
