/** Turns what a client names as its media into a checked source, or says why not. */

import { ServiceError } from '../../shared/errors.ts'
import { assertNotTooLong, assertSpansBegin } from '../../shared/media-limits.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import { targetNames } from '../../shared/messages.ts'
import type { Deps } from '../deps.ts'
import type { EgressUser } from './egress-pool.ts'
import type { Store } from '../store/database.ts'
import { fileStatus, findFile, keepMedia } from '../store/files.ts'
import { findRequest, keepOutputs, promptsOfRow } from '../store/requests.ts'
import type { FileRow, RequestRow } from '../store/tables.ts'
import type { OutputSource, Submission } from '../api/validation.ts'
import { storedPart } from './presenter.ts'
import { assertCompleted, hasResult } from './separations.ts'

type SourceColumns = 'file_id' | 'audio_url' | 'source_request_id' | 'source_output'

export type CheckedSource = Pick<RequestRow, SourceColumns | 'file_name' | 'duration'>

const NO_SOURCE: Pick<RequestRow, SourceColumns | 'duration'> = {
  file_id: null,
  audio_url: null,
  source_request_id: null,
  source_output: null,
  duration: null,
}

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
  if ('requestId' in source) return checkOutput(source, options, user.accountId, deps)
  const file = await checkFile(source.fileId, user.accountId, deps)
  if (file.duration !== null) {
    // a request before this one has measured it
    assertNotTooLong(file.duration, deps.config.mediaSecondsMax)
    assertSpansBegin(options.spans, file.duration)
  }
  const { file_id, file_name, duration } = file
  return { ...NO_SOURCE, file_id, file_name, duration }
}

/** Takes the sound of an output as the source: its video has the sound encoded once more. */
async function checkOutput(
  { requestId, output, index }: OutputSource,
  { spans }: Submission['options'],
  accountId: string,
  { store, clock, config }: SourceDeps,
): Promise<CheckedSource> {
  const param = 'input.request_id'
  const row = await findRequest(store, requestId)
  if (row?.account_id !== accountId) {
    const message = 'input.request_id is not a request of this account.'
    throw new ServiceError('INVALID_PARAMETER', { message, param })
  }
  assertCompleted(row, param)
  if (!hasResult(row, clock.now())) throw outputsExpired()
  const targets = targetNames(promptsOfRow(row).length)
  const name = output === 'target' ? targets[index] : output
  const stored = name && storedPart(row, name)
  if (!stored) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: `input.output_index must be less than ${targets.length}, the request's targets.`,
      param: 'input.output_index',
    })
  }
  const duration = row.duration! // of a completed request
  assertNotTooLong(duration, config.mediaSecondsMax)
  assertSpansBegin(spans, duration)
  return {
    ...NO_SOURCE,
    source_request_id: requestId,
    source_output: name,
    file_name: shortened(stored.fileName),
    duration,
  }
}

const outputsExpired = () =>
  new ServiceError('FILE_EXPIRED', {
    message: 'The outputs of this request have expired; separate its media again.',
    param: 'input.request_id',
  })

/** Names of chains grow: the last characters are kept, which tell outputs of one media apart. */
const shortened = (name: string): string => [...name].slice(-LIMITS.fileNameCharactersMax).join('')

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
 * Call it in the transaction that stores the request: from then on its source is kept.
 * @throws ServiceError `FILE_EXPIRED` when the bytes were given up since they were checked
 */
export async function assertKept(
  store: Store,
  { file_id: fileId, source_request_id: requestId }: Pick<RequestRow, SourceColumns>,
): Promise<void> {
  if (fileId !== null && !(await keepMedia(store, fileId))) {
    throw new ServiceError('FILE_EXPIRED', { param: 'input.file_id' })
  }
  if (requestId !== null && !(await keepOutputs(store, requestId))) throw outputsExpired()
}

async function checkUrl(
  url: string,
  user: EgressUser,
  { checkAudioUrl }: SourceDeps,
): Promise<CheckedSource> {
  await checkAudioUrl(url, user)
  return { ...NO_SOURCE, audio_url: url, file_name: nameInUrl(url) }
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
