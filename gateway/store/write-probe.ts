/** Checks by a write that the database is writable: a full disk is noticed only then. */

import type { Store } from './database.ts'

/** True once a write is durable. @throws what the database says when it is not */
export async function canWrite(store: Store, now: string): Promise<boolean> {
  await store
    .insertInto('write_probe')
    .values({ probe_id: 1, written_at: now })
    .onConflict((conflict) => conflict.column('probe_id').doUpdateSet({ written_at: now }))
    .execute()
  return true
}
