/**
 * The database of a test: SQLite, or PostgreSQL where WINNOW_TEST_DATABASE says `postgres`, as
 * `npm run test:all` does for a second run of the contract's tests.
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

/** The database of a test that names none. */
export function databaseKind(): DatabaseKind {
  const named = process.env.WINNOW_TEST_DATABASE || 'sqlite'
  const kind = KINDS.find((kind) => kind === named)
  if (!kind) throw new Error(`WINNOW_TEST_DATABASE must be one of ${KINDS.join(', ')}`)
  return kind
}

/** Place of a database; without an address, the SQLite file in the folder. */
export interface DatabasePlace {
  folder: string
  url?: string
}

/** A new, empty database; it lasts as long as the test. */
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

/** Makes the folder of a migrated file, whose copies open in a tenth of the time. */
async function makeTemplate(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const store = await openSqlite(join(folder, FILE))
  await store.destroy()
  return folder
}

/** Opens it as a gateway does; the caller closes it. */
export const openTestDatabase = ({ folder, url }: DatabasePlace): Promise<Store> =>
  url === undefined
    ? openSqlite(join(folder, FILE))
    : openPostgres({ url, connectionsMax: 8, log: { warn() {} } })

/** From now on whoever asks for the table is in for an error. */
export const loseTable = (store: Store, table: keyof Tables): Promise<void> =>
  store.schema.alterTable(table).renameTo('lost').execute()
