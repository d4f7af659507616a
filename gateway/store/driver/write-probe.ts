/** Checks with a write that the database is writable, because a full disk is noticed only then. */

import type { Store } from '../database.ts'

/** Codes of a full disk, from the databases and from a flush. */
const FULL = ['SQLITE_FULL', '53100', 'ENOSPC', 'EDQUOT']

/**
 * Resolves once a write is durable.
 * @throws the database's error if it cannot be written
 */
export async function probeWrite(store: Store, now: string): Promise<void> {
  await store
    .insertInto('write_probe')
    .values({ probe_id: 1, written_at: now })
    .onConflict((conflict) => conflict.column('probe_id').doUpdateSet({ written_at: now }))
    .execute()
}

export const isOfFullDisk = (error: unknown): boolean =>
  [error, (Object(error) as Error).cause].some((candidate) =>
    FULL.includes(String((Object(candidate) as { code?: unknown }).code)),
  )
