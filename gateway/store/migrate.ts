/** Brings a database to the newest schema. */

import {
  Migrator,
  OperationNodeTransformer,
  RawNode,
  type DataTypeNode,
  type KyselyPlugin,
  type OperationNode,
} from 'kysely'
import { StartError } from '../../shared/process/lifecycle.ts'
import { isPostgres, type Store } from './database.ts'
import { migrations } from './migrations.ts'

/** @throws StartError when a newer version has changed the database */
export async function migrate(store: Store): Promise<void> {
  const db = isPostgres(store) ? store.withPlugin(new PostgresTypes()) : store
  const provider = { getMigrations: async () => migrations }
  const { error } = await new Migrator({ db, provider }).migrateToLatest()
  if (error === undefined) return
  const cause = error instanceof Error ? error : new Error('the migration failed', { cause: error })
  const [, newer] = /previously executed migration (\S+) is missing/.exec(cause.message) ?? []
  if (newer === undefined) throw cause
  throw new StartError(
    `The database was changed by a newer version of Winnow (migration ${newer}), which this one ` +
      'does not understand. Run that version or a later one, or restore a backup from before.',
    { cause },
  )
}

/**
 * SQLite's types as PostgreSQL has them: integers are as long as they must be, and texts, which are
 * ids and times, are compared byte by byte, whatever the language of the database.
 */
class PostgresTypes extends OperationNodeTransformer implements KyselyPlugin {
  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => this.transformNode(node)

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result

  protected override transformDataType(node: DataTypeNode): DataTypeNode {
    const type = TYPES[node.dataType]
    const replaced: OperationNode = type === undefined ? node : RawNode.createWithSql(type)
    return replaced as DataTypeNode // where a type stands, raw SQL may stand as well
  }
}

const TYPES: Partial<Record<DataTypeNode['dataType'], string>> = {
  text: 'text collate "C"',
  integer: 'bigint',
}
