/** Turns rows of files into the responses of endpoints 3 and 4. */

import type { CreateFileResponse, File } from '../api/file-schemas.ts'
import type { Settings } from '../config.ts'
import { keptUntil } from './times.ts'
import { fileStatus } from '../store/files.ts'
import { inputKey } from '../media-store/keys.ts'
import type { FileRow } from '../store/schema/tables.ts'
import type { MediaStore } from '../media-store/media-store.ts'

export interface CreatedFilePresenter {
  mediaStore: Pick<MediaStore, 'uploadUrl'>
  config: Settings<'fileHours'>
}

export async function presentCreatedFile(
  file: FileRow,
  { mediaStore, config }: CreatedFilePresenter,
): Promise<CreateFileResponse> {
  const { file_size: bytes, content_type: contentType } = file
  const uploadUrl = await mediaStore.uploadUrl({
    key: inputKey(file.file_id),
    audience: 'client',
    expiresAt: Date.parse(file.expires_at),
    body: { bytes, contentType },
  })
  return {
    file_id: file.file_id,
    upload_url: uploadUrl,
    upload_method: 'PUT',
    headers: { 'content-type': contentType },
    expires_at: file.expires_at,
    // If the file is uploaded at once, it is kept this long; if later, longer.
    retention: { delete_after: keptUntil(Date.parse(file.created_at), config) },
  }
}

/** @param now epoch milliseconds */
export const presentFile = (file: FileRow, now: number): File => ({
  file_id: file.file_id,
  file_name: file.file_name,
  content_type: file.content_type,
  file_size: file.file_size,
  purpose: file.purpose,
  status: fileStatus(file, now),
  created_at: file.created_at,
  uploaded_at: file.uploaded_at,
  expires_at: file.expires_at,
})
