/** Opens the database that the settings name. */

import { join } from 'node:path'
import { makeFolder } from '../../../shared/process/make-folder.ts'
import type { Store } from '../database.ts'
import { openPostgres, type WaitLog } from './postgres.ts'
import { openSqlite } from './sqlite.ts'

interface DatabaseOptions {
  /** A PostgreSQL; without one there is a SQLite file in the data folder. */
  databaseUrl: string | undefined
  dataFolder: string
  databaseConnectionsMax: number
}

/**
 * Opens PostgreSQL if `databaseUrl` is set, otherwise the SQLite file.
 * @param migrates brings an older schema forward
 * @throws StartError if the database cannot be used
 */
export async function openDatabase(
  { databaseUrl: url, dataFolder, databaseConnectionsMax: connectionsMax }: DatabaseOptions,
  log: WaitLog,
  { migrates = false } = {},
): Promise<Store> {
  if (url !== undefined) return openPostgres({ url, connectionsMax, log, migrates })
  await makeFolder(dataFolder)
  return openSqlite(join(dataFolder, 'winnow.db'), { migrates })
}
