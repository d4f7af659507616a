/**
 * Makes the database of a test: SQLite, or PostgreSQL if WINNOW_TEST_DATABASE is `postgres`, as it
 * is when `npm run test:all` runs the contract tests a second time.
 */

import { rmSync } from 'node:fs'
import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Store } from '../../../gateway/store/database.ts'
import { openPostgres } from '../../../gateway/store/driver/postgres.ts'
import { openSqlite } from '../../../gateway/store/driver/sqlite.ts'
import type { Tables } from '../../../gateway/store/schema/tables.ts'
import { createMigratedDatabase } from './start-postgres.ts'

const KINDS = ['sqlite', 'postgres'] as const

export type DatabaseKind = (typeof KINDS)[number]

/** The kind of database for tests that do not choose one. */
export function databaseKind(): DatabaseKind {
  const setting = process.env.WINNOW_TEST_DATABASE || 'sqlite'
  const kind = KINDS.find((kind) => kind === setting)
  if (!kind) throw new Error(`WINNOW_TEST_DATABASE must be one of ${KINDS.join(', ')}`)
  return kind
}

/** Location of a database: its address, or else the SQLite file in the folder. */
export interface DatabasePlace {
  folder: string
  url?: string
}

/** Makes a new, empty database for the test. */
export async function createTestDatabase(
  t: TestContext,
  folder: string,
  kind = databaseKind(),
): Promise<DatabasePlace> {
  if (kind === 'postgres') return { folder, url: await createMigratedDatabase(t) }
  await copyFile(join(await (template ??= makeTemplate()), FILE), join(folder, FILE))
  return { folder }
}

const FILE = 'winnow.db'
let template: Promise<string> | undefined

/** Makes a folder with a migrated file. Opening a copy takes a tenth of the time of migrating. */
async function makeTemplate(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const store = await openSqlite(join(folder, FILE))
  await store.destroy()
  return folder
}

/** Opens the database as a gateway does; the caller closes it. */
export const openTestDatabase = ({ folder, url }: DatabasePlace): Promise<Store> =>
  url === undefined
    ? openSqlite(join(folder, FILE))
    : openPostgres({ url, connectionsMax: 8, log: { warn() {} } })

/** Makes every statement on the table fail from now on. */
export const loseTable = (store: Store, table: keyof Tables): Promise<void> =>
  store.schema.alterTable(table).renameTo('lost').execute()
