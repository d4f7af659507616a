/**
 * Takes in what clients have put straight into a bucket, by a presigned address: the store tells
 * nobody, so it is looked at when somebody asks for the file, and now and then.
 */

import type { Deps } from '../deps.ts'
import { uploadTimes } from './times.ts'
import type { PendingUpload, Bucket } from '../media-store/media-store.ts'
import { findFile, markFileUploaded } from '../store/files.ts'
import { inputKey, ownerOf } from '../store/retention.ts'
import type { FileRow } from '../store/tables.ts'

type PendingUploadDeps = Pick<Deps, 'store' | 'mediaStore' | 'clock' | 'config'>
type SweepDeps = PendingUploadDeps & Pick<Deps, 'log'>

/** One at a time for a file: else one of two would change what the other has already accepted. */
const inHand = new Map<string, Promise<FileRow>>()

/** The file, uploaded if its bytes have arrived in time. */
export async function withPendingUpload(deps: PendingUploadDeps, file: FileRow): Promise<FileRow> {
  const { mediaStore } = deps
  if (mediaStore.kind !== 's3' || !isAwaited(file)) return file
  const { file_id: fileId } = file
  const known = inHand.get(fileId)
  if (known) return known
  const taking = takeIn(deps, mediaStore, file).finally(() => inHand.delete(fileId))
  inHand.set(fileId, taking)
  return taking
}

/** Whether an upload of it would still count, if it came in time. */
const isAwaited = (file: FileRow): boolean =>
  file.uploaded_at === null && file.media_removed_at === null

async function takeIn(
  { store, config }: PendingUploadDeps,
  bucket: Bucket,
  file: FileRow,
): Promise<FileRow> {
  const { file_id: fileId } = file
  const pendingUpload = await bucket.pendingUploadOf(inputKey(fileId))
  if (pendingUpload && isUpload(pendingUpload, file) && (await bucket.accept(pendingUpload))) {
    await markFileUploaded(store, fileId, uploadTimes(pendingUpload.arrivedAt, config))
    await bucket.dropPendingUpload(inputKey(fileId))
  }
  return (await findFile(store, fileId)) ?? file // somebody else may have taken it in
}

/** Not every store refuses a body of another length. */
const isUpload = ({ bytes, arrivedAt }: PendingUpload, file: FileRow): boolean =>
  bytes === file.file_size && arrivedAt <= Date.parse(file.expires_at)

/** Takes in all that has arrived, and drops what no file waits for; each by itself. */
export async function takePendingUploads(deps: SweepDeps): Promise<void> {
  const { mediaStore: bucket, log } = deps
  if (bucket.kind !== 's3') return
  for await (const key of bucket.pendingUploads()) {
    await takeArrival(deps, bucket, key).catch((error: unknown) => {
      log.error({ err: error, key }, 'an upload could not be taken in; a later turn tries again')
    })
  }
}

async function takeArrival(deps: PendingUploadDeps, bucket: Bucket, key: string): Promise<void> {
  const { store, clock } = deps
  const owner = ownerOf(key)
  const known = owner && (await findFile(store, owner.id))
  const file = known && (await withPendingUpload(deps, known))
  const stillAwaited = file && isAwaited(file) && Date.parse(file.expires_at) > clock.now()
  if (!stillAwaited) await bucket.dropPendingUpload(key)
}
