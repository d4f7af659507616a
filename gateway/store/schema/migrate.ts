/** Makes sure that a database has a schema that this version can use. */

import {
  Migrator,
  OperationNodeTransformer,
  RawNode,
  type DataTypeNode,
  type KyselyPlugin,
  type OperationNode,
} from 'kysely'
import { StartError } from '../../../shared/process/lifecycle.ts'
import { isPostgres, type Store } from '../database.ts'
import { migrations } from './migrations.ts'
import { readSchema, refusalOf, schemaStateOf } from './schema.ts'

/**
 * Creates the tables in an empty database. If `migrates` is true, an older schema is brought
 * forward; only the gateway and `database migrate` do that, because an older gateway that is
 * running cannot restart on every newer schema. A schema that a newer version has expanded is left
 * as it is.
 * @throws StartError if the schema is too old, or was changed in a way that this version does not
 *   know
 */
export async function prepareSchema(store: Store, { migrates }: { migrates: boolean }) {
  const knownMigrations = Object.keys(migrations).sort()
  const schema = await readSchema(store)
  const state = schemaStateOf(schema, knownMigrations)
  if (state === 'current' || state === 'newer') return
  if (state === 'unusable' || (state === 'older' && !migrates)) {
    throw new StartError(refusalOf(schema, knownMigrations, state))
  }
  const db = isPostgres(store) ? store.withPlugin(new PostgresTypes()) : store
  const provider = { getMigrations: async () => migrations }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  if (error === undefined) return
  // a newer gateway may have been faster
  if (schemaStateOf(await readSchema(store), knownMigrations) === 'newer') return
  throw error instanceof Error ? error : new Error('the migration failed', { cause: error })
}

/**
 * Translates SQLite's types for PostgreSQL: integers get 64 bits, and text, which holds ids and
 * times, is compared byte by byte, whatever the language of the database.
 */
class PostgresTypes extends OperationNodeTransformer implements KyselyPlugin {
  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => this.transformNode(node)

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result

  protected override transformDataType(node: DataTypeNode): DataTypeNode {
    const type = TYPES[node.dataType]
    const replaced: OperationNode = type === undefined ? node : RawNode.createWithSql(type)
    return replaced as DataTypeNode // raw SQL may stand where a type stands
  }
}

const TYPES: Partial<Record<DataTypeNode['dataType'], string>> = {
  text: 'text collate "C"',
  integer: 'bigint',
}
