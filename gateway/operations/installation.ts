/**
 * Checks whether the database and the media belong together. A gateway deletes media that its
 * database does not name, so in a bucket shared by two installations each would delete the other's.
 */

import { StartError } from '../../shared/process/lifecycle.ts'
import { OWNER_KEY, type MediaStore } from '../media-store/media-store.ts'
import type { Store } from '../store/database.ts'
import { setMediaPlace } from '../store/installation.ts'
import type { InstallationRow } from '../store/schema/tables.ts'

/**
 * Claims the place of the media for this installation, if its media has no place yet and the place
 * belongs to none.
 * @throws StartError if the place belongs to another installation, or if the media of this one is
 *   elsewhere
 */
export async function claimMedia(
  store: Store,
  mediaStore: Pick<MediaStore, 'place' | 'owner' | 'claim'>,
  { installation_id: id, media_place: before }: InstallationRow,
): Promise<void> {
  const { place } = mediaStore
  if (before === null && (await mediaStore.owner()) === undefined) await mediaStore.claim(id)
  const owner = await mediaStore.owner() // another gateway may have been faster
  if (owner === undefined) {
    throw new StartError(
      `The database is that of installation ${id}, whose media are in ${before}, but ${place} is ` +
        `nobody's. Correct S3_BUCKET, S3_ENDPOINT or DATA_DIR. Where the media were moved, move ` +
        `${OWNER_KEY} with them; where they are given up, put one there that holds ${id}.`,
    )
  }
  if (owner !== id) {
    throw new StartError(
      `The database is that of installation ${id}, but ${place} holds the media of installation ` +
        `${owner}. Give each installation a database and a place for media of its own. Where ` +
        `${owner} is gone for good, remove ${OWNER_KEY} there.`,
    )
  }
  if (before !== place) await setMediaPlace(store, place)
}
