/**
 * Tells which schema a database has, and whether a program that knows other migrations may use it.
 */

import type { Store } from '../database.ts'

/** The migration that added the table `schema_use`. */
export const SCHEMA_USE = '017-schema-use'

export interface Schema {
  /** The migrations that were run, by name, oldest first. */
  applied: readonly string[]
  /**
   * The oldest program that may use it, as its migrations state; undefined in the schemas of 0.2.0.
   */
  oldestUser: OldestUser | undefined
}

export interface OldestUser {
  /** Programs that know this migration may use the database. */
  migration: string
  /** The first version of Winnow that knows it, for people. */
  version: string
}

/**
 * An `empty` schema has no tables. An `older` one must be migrated first. A `newer` one was
 * expanded, and may be used as it is. An `unusable` one was changed in a way that the program does
 * not know.
 */
export type SchemaState = 'empty' | 'current' | 'older' | 'newer' | 'unusable'

/** @param known the migrations of the program that asks */
export function schemaStateOf(
  { applied, oldestUser }: Schema,
  known: readonly string[],
): SchemaState {
  if (applied.length === 0) return 'empty'
  const isComplete = known.every((name) => applied.includes(name))
  const isKnown = applied.every((name) => known.includes(name))
  if (isKnown) return isComplete ? 'current' : 'older'
  return isComplete && oldestUser && known.includes(oldestUser.migration) ? 'newer' : 'unusable'
}

/** Returns why a program that knows `known` cannot use the schema, and what to do about it. */
export function refusalOf(
  { applied, oldestUser }: Schema,
  known: readonly string[],
  state: 'older' | 'unusable',
): string {
  if (state === 'older') {
    return (
      `The database has the schema ${applied.at(-1)} of an older version of Winnow, which may ` +
      `be running; this one writes ${known.at(-1)}. Use the tools of that version, or bring the ` +
      'schema forward first: start the newer gateway, or run `database migrate`.'
    )
  }
  const unknown = applied.find((name) => !known.includes(name))
  const oldest = oldestUser
    ? `Version ${oldestUser.version} (${oldestUser.migration}) is the oldest that may use it. `
    : ''
  return (
    `The database was changed by a newer version of Winnow (migration ${unknown}), which this ` +
    `one does not understand. ${oldest}Run that version or a later one, or restore a backup ` +
    'from before.'
  )
}

const MIGRATIONS_TABLE = 'kysely_migration'

/** Reads the schema without changing anything. */
export async function readSchema(store: Store): Promise<Schema> {
  const tables = await store.introspection.getTables({ withInternalKyselyTables: true })
  const isMigrated = tables.some(({ name }) => name === MIGRATIONS_TABLE)
  if (!isMigrated) return { applied: [], oldestUser: undefined }
  const rows = (await store
    .selectFrom(MIGRATIONS_TABLE as never)
    .select('name' as never)
    .orderBy('name' as never)
    .execute()) as { name: string }[]
  const applied = rows.map(({ name }) => name)
  const oldestUser = applied.includes(SCHEMA_USE)
    ? await store.selectFrom('schema_use').select(['migration', 'version']).executeTakeFirst()
    : undefined
  return { applied, oldestUser }
}
