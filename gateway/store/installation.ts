/** Stores which installation the database belongs to, and where its media is. */

import type { Store } from './database.ts'
import type { InstallationRow } from './schema/tables.ts'

const THIS = 'this'

/** Returns the only row, and creates it with the id `newId` if it does not exist. */
export async function ensureInstallation(store: Store, newId: string): Promise<InstallationRow> {
  await store
    .insertInto('installation')
    .values({ name: THIS, installation_id: newId, media_place: null, admin_code_expiry: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  return store.selectFrom('installation').selectAll().executeTakeFirstOrThrow()
}

/** Records where the media is, for people to read. */
export async function setMediaPlace(store: Store, place: string): Promise<void> {
  await store.updateTable('installation').set({ media_place: place }).execute()
}

/**
 * Records that a code of the admin page is used. Returns false if it or a newer one was used
 * before. Of two concurrent callers, one gets true.
 */
export async function useAdminCode(store: Store, expiry: string): Promise<boolean> {
  const { numUpdatedRows } = await store
    .updateTable('installation')
    .set({ admin_code_expiry: expiry })
    .where(({ eb, or }) =>
      or([eb('admin_code_expiry', 'is', null), eb('admin_code_expiry', '<', expiry)]),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
