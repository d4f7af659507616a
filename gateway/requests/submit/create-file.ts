/** Records a file whose bytes are still to be uploaded. */

import { isoTime, type Clock } from '../../../shared/clock.ts'
import { MINUTE_MS } from '../../../shared/durations.ts'
import { newId } from '../../../shared/ids.ts'
import { assertFileRoom, type MediaLimits } from '../../accounts/media-quota.ts'
import { checkCreateFile } from '../../api/validation.ts'
import type { Settings } from '../../config.ts'
import { inTransaction, type Store } from '../../store/database.ts'
import { insertFile } from '../../store/files.ts'
import type { FileRow } from '../../store/schema/tables.ts'

export interface CreateFileDeps {
  store: Store
  clock: Clock
  config: MediaLimits & Settings<'uploadMinutes'>
}

/**
 * @param body a CreateFileRequest
 * @throws ServiceError that names what is wrong with `body`, or the limit of the account
 */
export async function createFile(
  deps: CreateFileDeps,
  accountId: string,
  body: unknown,
  fileId = newId('file'),
): Promise<FileRow> {
  const { store, clock, config } = deps
  const { file_name, content_type, file_size, purpose } = checkCreateFile(body)
  const now = clock.now()
  const file = {
    file_id: fileId,
    account_id: accountId,
    file_name,
    content_type,
    file_size,
    purpose,
    created_at: isoTime(now),
    uploaded_at: null,
    expires_at: isoTime(now + config.uploadMinutes * MINUTE_MS),
    duration: null,
    media_removed_at: null,
  }
  await inTransaction(store, async (store) => {
    await insertFile(store, file)
    await assertFileRoom(store, file, deps)
  })
  return file
}
