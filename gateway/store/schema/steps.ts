/** Helpers for steps that many migrations take. */

import { sql, type Kysely, type Migration, type SqlBool } from 'kysely'

type ColumnName = `${string}.${string}`

/** Returns a migration that adds text columns, which may be null. */
export const textColumns = (...names: ColumnName[]): Migration => ({
  up: async (db: Kysely<any>) => {
    for (const name of names) await addColumn(db, name, 'text')
  },
})

/** Adds the column `table.column`, which may be null unless it has an initial value. */
export async function addColumn(
  db: Kysely<any>,
  name: ColumnName,
  type: 'text' | 'integer' | 'bigint' | 'double precision',
  initial?: string | number,
): Promise<void> {
  const [table, column] = name.split('.') as [string, string]
  await db.schema
    .alterTable(table)
    .addColumn(column, type, (definition) =>
      initial === undefined ? definition : definition.notNull().defaultTo(initial),
    )
    .execute()
}

/** Adds an index on all rows of a table, or on those that meet the condition `where`. */
export async function addIndex(
  db: Kysely<any>,
  name: string,
  table: string,
  columns: string[],
  where?: string,
): Promise<void> {
  const index = db.schema.createIndex(name).on(table).columns(columns)
  await (where === undefined ? index : index.where(sql.raw<SqlBool>(where))).execute()
}
