/** Keeps the statistics by which SQLite chooses indexes; PostgreSQL keeps its own. */

import { sql } from 'kysely'
import { isPostgres, type Store } from '../database.ts'

/** Checks all tables, and analyzes samples of those whose size has changed about tenfold. */
export const OPTIMIZE = 'optimize = 0x10012'

export async function renewStatistics(store: Store): Promise<void> {
  if (!isPostgres(store)) await sql.raw(`pragma ${OPTIMIZE}`).execute(store)
}
