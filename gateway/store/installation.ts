/** Which installation the database is of, and where its media are. */

import type { Store } from './database.ts'
import type { InstallationRow } from './schema/tables.ts'

const THIS = 'this'

/** The only row, which is made with the id `newId` where there is none. */
export async function keepInstallation(store: Store, newId: string): Promise<InstallationRow> {
  await store
    .insertInto('installation')
    .values({ name: THIS, installation_id: newId, media_place: null })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  return store.selectFrom('installation').selectAll().executeTakeFirstOrThrow()
}

/** Records where the media are, for people. */
export async function setMediaPlace(store: Store, place: string): Promise<void> {
  await store.updateTable('installation').set({ media_place: place }).execute()
}
