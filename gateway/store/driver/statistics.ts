/** Keeps the statistics by which SQLite chooses indexes; PostgreSQL keeps its own. */

import { sql } from 'kysely'
import { isPostgres, type Store } from '../database.ts'

/**
 * Checks all tables, and analyzes those that have become about ten times as large or as small since
 * the last time, by a bounded number of rows of each index.
 */
export const OPTIMIZE = 'optimize = 0x10012'

export async function renewStatistics(store: Store): Promise<void> {
  if (!isPostgres(store)) await sql.raw(`pragma ${OPTIMIZE}`).execute(store)
}
