/** Turns what a client names as its media into a checked source, or says why not. */

import { ServiceError } from '../../shared/errors.ts'
import { assertNotTooLong, assertSpansBegin } from '../../shared/media-limits.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import type { Deps } from '../deps.ts'
import type { EgressUser } from './egress-pool.ts'
import type { Store } from '../store/database.ts'
import { fileStatus, findFile, keepMedia } from '../store/files.ts'
import type { FileRow, RequestRow } from '../store/tables.ts'
import type { Submission } from '../api/validation.ts'

export type CheckedSource = Pick<RequestRow, 'file_id' | 'audio_url' | 'file_name'>

export type SourceDeps = Pick<
  Deps,
  'store' | 'pendingUploads' | 'clock' | 'config' | 'checkAudioUrl'
>

/** @throws ServiceError with the code of endpoint 5 that fits */
export async function checkSource(
  { source, options }: Pick<Submission, 'source' | 'options'>,
  user: EgressUser,
  deps: SourceDeps,
): Promise<CheckedSource> {
  if ('audioUrl' in source) return checkUrl(source.audioUrl, user, deps)
  const file = await checkFile(source.fileId, user.accountId, deps)
  if (file.duration !== null) {
    // a request before this one has measured it
    assertNotTooLong(file.duration, deps.config.mediaSecondsMax)
    assertSpansBegin(options.spans, file.duration)
  }
  return { file_id: file.file_id, audio_url: null, file_name: file.file_name }
}

async function checkFile(fileId: string, accountId: string, deps: SourceDeps): Promise<FileRow> {
  const param = 'input.file_id'
  const known = await findFile(deps.store, fileId)
  if (known?.account_id !== accountId) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: 'input.file_id is not a file of this account; create one with POST /v1/files.',
      param,
    })
  }
  const file = await deps.pendingUploads.accept(known).catch((cause: unknown) => {
    throw new ServiceError('QUEUE_UNAVAILABLE', { cause })
  })
  const status = fileStatus(file, deps.clock.now())
  if (status === 'pending') throw new ServiceError('FILE_NOT_UPLOADED', { param })
  if (status === 'expired') throw new ServiceError('FILE_EXPIRED', { param })
  return file
}

/**
 * Call it in the transaction that stores the request: from then on its file is kept.
 * @throws ServiceError `FILE_EXPIRED` when the file's bytes were given up since it was checked
 */
export async function assertKept(
  store: Store,
  { file_id: fileId }: Pick<RequestRow, 'file_id'>,
): Promise<void> {
  if (fileId === null || (await keepMedia(store, fileId))) return
  throw new ServiceError('FILE_EXPIRED', { param: 'input.file_id' })
}

async function checkUrl(
  url: string,
  user: EgressUser,
  { checkAudioUrl }: SourceDeps,
): Promise<CheckedSource> {
  const { bytes = 0 } = await checkAudioUrl(url, user)
  if (bytes > LIMITS.fileBytesMax) {
    throw new ServiceError('PAYLOAD_TOO_LARGE', {
      message: `The media has ${bytes} bytes; at most ${LIMITS.fileBytesMax} are allowed.`,
      param: 'input.audio_url',
    })
  }
  return { file_id: null, audio_url: url, file_name: nameInUrl(url) }
}

/** The last part of the path, as far as it can be read and be a file's name. */
function nameInUrl(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  const name =
    decoded(last)
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\p{Cc}/gu, '_') || 'audio'
  return [...name].slice(0, LIMITS.fileNameCharactersMax).join('')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
