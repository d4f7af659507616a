/** A copy of the database as it is at one moment, while others go on writing. */

import { sql } from 'kysely'
import type { Store } from './database.ts'

/**
 * Writes the database into a file of its own, which must not exist yet.
 * @throws Error when the file exists or cannot be written
 */
export async function snapshotInto(store: Store, path: string): Promise<void> {
  await sql`vacuum into ${path}`.execute(store)
}
