/** Which releases may use which database schema, and which may change it. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import { migrations } from '../../../gateway/store/schema/migrations.ts'
import { openPostgres } from '../../../gateway/store/driver/postgres.ts'
import { openSqlite, SqliteDatabase } from '../../../gateway/store/driver/sqlite.ts'
import { backup as backupCommand } from '../../../scripts/cli/backup/command.ts'
import { accounts } from '../../../scripts/cli/admin/accounts.ts'
import type { Command } from '../../../scripts/cli/command.ts'
import { database as databaseCommand } from '../../../scripts/cli/admin/database.ts'
import { keys } from '../../../scripts/cli/admin/keys.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'
import { runCommand } from '../../support/processes/run-command.ts'
import { createDatabase } from '../../support/database/start-postgres.ts'

const NAMES = Object.keys(migrations).sort()
/** The record that a newer version leaves after extending the schema. */
const NEWER = { name: '999-of-the-future', timestamp: '2026-01-01T00:00:00.000Z' }

/** Makes a SQLite database as it was before the newest migrations. */
async function oldDatabase(t: TestContext): Promise<{ folder: string; file: string }> {
  const folder = temporaryFolder(t)
  const file = join(folder, 'winnow.db')
  const store = new Kysely<any>({
    dialect: new SqliteDialect({ database: new SqliteDatabase(file) }),
  })
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '015'))
  const provider = { getMigrations: async () => before }
  assert.equal((await new Migrator({ db: store, provider }).migrateToLatest()).error, undefined)
  await store.destroy()
  return { folder, file }
}

const appliedIn = (file: string): string[] => {
  const database = new SqliteDatabase(file, { readonly: true })
  try {
    const rows = database.prepare('select name from kysely_migration order by name').all()
    return (rows as { name: string }[]).map(({ name }) => name)
  } finally {
    database.close()
  }
}

const runWith = (run: Command, env: Record<string, string>, ...words: string[]) =>
  runCommand(run, words, { env })

const tool = (name: 'keys' | 'accounts', env: Record<string, string>, ...words: string[]) =>
  runCommand({ keys, accounts }[name], words, { env })

test('tools leave an older schema alone and say what to do; backup accepts it', async (t) => {
  const { folder, file } = await oldDatabase(t)
  const env = { DATA_DIR: folder }
  const before = appliedIn(file)
  for (const name of ['keys', 'accounts'] as const) {
    const { code, errors } = await tool(name, env, 'list')
    assert.equal(code, 1)
    assert.match(errors, /schema 014-installation of an older version .* run `database migrate`/)
  }
  const backup = join(folder, 'backup')
  assert.equal((await runWith(backupCommand, env, backup)).code, 0)
  assert.deepEqual(appliedIn(join(backup, 'winnow.db')), before)
  assert.deepEqual(appliedIn(file), before, 'nobody has migrated it')

  const migrated = await runWith(databaseCommand, env, 'migrate')
  assert.deepEqual(
    [migrated.code, migrated.text],
    [0, `The database has the schema ${NAMES.at(-1)}.\n`],
  )
  assert.deepEqual(appliedIn(file), NAMES)
  assert.equal((await tool('keys', env, 'list')).code, 0)
  assert.equal((await runWith(databaseCommand, env, 'migrate', '--to', 'x')).code, 2)
})

test('a backup opens the database only for reading, while another process writes', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'winnow.db')
  await (await openSqlite(file)).destroy()
  const writer = new SqliteDatabase(file)
  writer.exec('begin immediate; delete from accounts')
  const backup = join(folder, 'backup')
  const { code, errors } = await runWith(backupCommand, { DATA_DIR: folder }, backup)
  assert.equal(code, 0, errors)
  assert.deepEqual(appliedIn(join(backup, 'winnow.db')), NAMES)
  writer.exec('commit')
  writer.close()
})

for (const kind of ['SQLite', 'PostgreSQL']) {
  test(`${kind}: a newer schema is used if it allows that, and otherwise refused by name`, async (t) => {
    const folder = temporaryFolder(t)
    const url = kind === 'PostgreSQL' ? await createDatabase(t) : undefined
    const open = (options: { migrates?: boolean } = {}) =>
      url === undefined
        ? openSqlite(join(folder, 'winnow.db'), options)
        : openPostgres({ url, connectionsMax: 1, log: { warn() {} }, ...options })
    const env = { DATA_DIR: folder, ...(url !== undefined && { DATABASE_URL: url }) }
    const first = await open()
    await first
      .insertInto('kysely_migration' as never)
      .values(NEWER as never)
      .execute()
    await first.schema.alterTable('accounts').addColumn('note', 'text').execute()
    await first.destroy()

    const gateway = await open({ migrates: true })
    await gateway.destroy()
    assert.equal((await tool('accounts', env, 'create', 'beside it')).code, 0)

    const contracted = await open()
    await contracted
      .updateTable('schema_use')
      .set({ migration: NEWER.name, version: '7.0.0' })
      .execute()
    await contracted.destroy()
    const refused = /Version 7\.0\.0 \(999-of-the-future\) is the oldest that may use it/
    await assert.rejects(open({ migrates: true }), refused)
    const { code, errors } = await tool('keys', env, 'list')
    assert.equal(code, 1)
    assert.match(errors, refused)
  })
}

test('migrations are refused if a newer one that this version lacks has already run', async (t) => {
  const { folder, file } = await oldDatabase(t)
  const database = new SqliteDatabase(file)
  database
    .prepare('insert into kysely_migration (name, timestamp) values (?, ?)')
    .run(NEWER.name, NEWER.timestamp)
  database.close()
  await assert.rejects(openSqlite(file, { migrates: true }), /changed by a newer version/)
  assert.equal((await runWith(databaseCommand, { DATA_DIR: folder }, 'migrate')).code, 1)
})
