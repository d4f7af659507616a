/** Checks the database: whether it exists, accepts writes, and has the schema of this version. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import {
  refusalOf,
  SCHEMA_USE,
  schemaStateOf,
  type OldestUser,
  type Schema,
} from '../../../../gateway/store/schema/schema.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, unusedFinding, warning, type Finding } from '../finding.ts'
import { inPostgres, inSqlite } from '../read-database.ts'
import { clockFinding } from './clock.ts'

const MIGRATIONS = 'select name from kysely_migration order by name'
const OLDEST_USER = 'select migration, version from schema_use'

export async function checkDatabase({ gateway, env }: Context): Promise<Finding[]> {
  if (!gateway) return []
  if (env.DATABASE_URL) return checkPostgres(env.DATABASE_URL)
  const path = join(gateway.dataFolder, 'winnow.db')
  if (!existsSync(path))
    return [unusedFinding('database', `${path}: none yet, the first start makes it`)]
  try {
    return [schemaFinding(path, await readSqlite(path), await knownSchemas())]
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const remedy = /CORRUPT|NOTADB/.test(code ?? '')
      ? 'Restore it from a backup.'
      : 'Give it to the user who runs the gateway, and mount its disk for writing.'
    return [failure('database', `${path}: ${message}`, remedy)]
  }
}

/** The drivers are loaded here, so that one that was not built only fails this check. */
const knownSchemas = async (): Promise<string[]> =>
  Object.keys((await import('../../../../gateway/store/schema/migrations.ts')).migrations)

/** Starts a write, so that a read-only database throws. */
const readSqlite = (path: string): Promise<Schema> =>
  inSqlite(path, (database) => {
    database.exec('begin immediate; rollback')
    const rows = database.prepare(MIGRATIONS).all() as { name: string }[]
    const applied = rows.map(({ name }) => name)
    const isStated = applied.includes(SCHEMA_USE)
    const oldestUser = isStated ? database.prepare(OLDEST_USER).get() : undefined
    return { applied, oldestUser: oldestUser as OldestUser | undefined }
  })

async function checkPostgres(url: string): Promise<Finding[]> {
  const place = URL.canParse(url) ? `PostgreSQL at ${new URL(url).host}` : 'PostgreSQL'
  try {
    return await inPostgres(url, (client) => postgresFindings(client, place))
  } catch (error) {
    const remedy = 'Correct DATABASE_URL, or start PostgreSQL there.'
    return [failure('database', `${place}: ${(error as Error).message}`, remedy)]
  }
}

async function postgresFindings(client: Client, place: string): Promise<Finding[]> {
  const before = Date.now()
  const { rows: times } = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const clock = clockFinding('database', times[0]!.now.getTime(), [before, Date.now()])
  const { rows: tables } = await client.query("select to_regclass('kysely_migration') as name")
  if ((tables[0] as { name: unknown }).name === null) {
    return [unusedFinding('database', `${place}: empty, the first start makes the tables`), clock]
  }
  const { rows } = await client.query<{ name: string }>(MIGRATIONS)
  const applied = rows.map(({ name }) => name)
  const isStated = applied.includes(SCHEMA_USE)
  const oldestUser = isStated ? (await client.query<OldestUser>(OLDEST_USER)).rows[0] : undefined
  return [schemaFinding(place, { applied, oldestUser }, await knownSchemas()), clock]
}

/** @param known the migrations of this version */
export function schemaFinding(path: string, schema: Schema, known: readonly string[]): Finding {
  const state = schemaStateOf(schema, known)
  const { applied } = schema
  if (state === 'unusable') {
    const newer = applied.filter((name) => !known.includes(name))
    const found = `${path} has a newer schema than this version (${newer.join(', ')})`
    return failure('database', found, refusalOf(schema, known, state))
  }
  if (state === 'older') {
    const missing = known.filter((name) => !applied.includes(name))
    const found = `${path} has an older schema (without ${missing.join(', ')})`
    return warning(
      'database',
      found,
      'The next start of the gateway migrates it: back it up before.',
    )
  }
  const newer = state === 'newer' ? ', expanded by a newer version' : ''
  return okFinding('database', `${path} takes writes, schema ${applied.at(-1)}${newer}`)
}
