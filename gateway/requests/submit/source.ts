/** Turns the media that a client names into a checked source, or says why it cannot. */

import { ServiceError } from '../../../shared/errors.ts'
import { assertNotTooLong, assertSpansBegin } from '../../../shared/media-limits.ts'
import { LIMITS } from '../../../shared/separation-options.ts'
import { targetNames, type OutputName } from '../../../shared/messages.ts'
import type { EgressUser } from './egress-pool.ts'
import type { Store } from '../../store/database.ts'
import { fileStatus, findFile, keepMedia, type UploadedFile } from '../../store/files.ts'
import { findRequest, keepOutputs, promptsOfRow } from '../../store/requests.ts'
import type { FileRow, RequestRow } from '../../store/schema/tables.ts'
import type { OutputSource, Submission } from '../../api/validation.ts'
import { markReceived } from './receive-file.ts'
import { storedPart } from '../present/outputs.ts'
import { assertCompleted, assertHasOutputs, hasResult } from '../own-requests.ts'
import type { Clock } from '../../../shared/clock.ts'
import type { PendingUploads } from '../../files/pending-uploads.ts'
import type { UrlChecks } from './url-checks.ts'
import type { Settings } from '../../config.ts'

type SourceColumns = Pick<
  RequestRow,
  'file_id' | 'audio_url' | 'source_request_id' | 'source_output' | 'file_name' | 'duration'
>

export interface CheckedSource {
  columns: SourceColumns
  /**
   * Makes sure that its bytes are kept from now on. Call it in the transaction that stores the
   * request.
   * @throws ServiceError `FILE_EXPIRED` if the bytes were deleted after the check
   */
  keep: (store: Store) => Promise<void>
}

const NO_SOURCE: Omit<SourceColumns, 'file_name'> = {
  file_id: null,
  audio_url: null,
  source_request_id: null,
  source_output: null,
  duration: null,
}

export interface SourceDeps extends Pick<UrlChecks, 'checkAudioUrl'> {
  store: Store
  pendingUploads: Pick<PendingUploads, 'accept'>
  clock: Clock
  config: Settings<'mediaSecondsMax'>
}

interface SourceInput extends Pick<Submission, 'source' | 'options'> {
  /** The file that the source names, if its bytes came in this call. */
  received?: UploadedFile | undefined
}

/** @throws ServiceError with the code of endpoint 5 that fits */
export async function checkSource(
  { source, options, received }: SourceInput,
  user: EgressUser,
  deps: SourceDeps,
): Promise<CheckedSource> {
  if (received) return fileSource(received, (store) => markReceived(store, received))
  if ('audioUrl' in source) return checkUrl(source.audioUrl, user, deps)
  if ('requestId' in source) {
    const row = await findEarlier(source.requestId, user.accountId, deps)
    if (source.output === 'source') return checkAgain(row, { options, user, deps })
    assertHasOutputs(row, REQUEST_PARAM)
    assertCompleted(row, REQUEST_PARAM)
    return checkOutput(row, outputNamed(source, row), options, deps)
  }
  const file = await checkFile(source.fileId, user.accountId, deps)
  if (file.duration !== null) {
    // an earlier request has measured it
    assertNotTooLong(file.duration, deps.config.mediaSecondsMax)
    assertSpansBegin(options.spans, file.duration)
  }
  return fileSource(file, async (store) => {
    if (await keepMedia(store, file.file_id)) return
    throw new ServiceError('FILE_EXPIRED', { param: 'input.file_id' })
  })
}

const fileSource = (
  { file_id, file_name, duration }: FileRow,
  keep: CheckedSource['keep'],
): CheckedSource => ({ columns: { ...NO_SOURCE, file_id, file_name, duration }, keep })

const REQUEST_PARAM = 'input.request_id'

async function findEarlier(requestId: string, accountId: string, { store }: SourceDeps) {
  const row = await findRequest(store, requestId)
  if (row?.account_id === accountId) return row
  throw new ServiceError('INVALID_PARAMETER', {
    message: 'input.request_id is not a request of this account.',
    param: REQUEST_PARAM,
  })
}

function outputNamed({ output, index }: OutputSource, row: RequestRow): OutputName {
  const targets = targetNames(promptsOfRow(row).length)
  const name = output === 'target' ? targets[index] : 'residual'
  if (name !== undefined) return name
  throw new ServiceError('INVALID_PARAMETER', {
    message: `input.output_index must be less than ${targets.length}, the request's targets.`,
    param: 'input.output_index',
  })
}

/** Uses the source of an earlier request again, if it is still kept. */
async function checkAgain(
  row: RequestRow,
  { options, user, deps }: { options: Submission['options']; user: EgressUser; deps: SourceDeps },
): Promise<CheckedSource> {
  const { audio_url: audioUrl, file_id: fileId, source_request_id: earlierId } = row
  if (audioUrl !== null) return checkUrl(audioUrl, user, deps)
  if (fileId !== null) {
    if (!(await findFile(deps.store, fileId))) throw sourceExpired()
    return checkSource({ source: { fileId }, options }, user, deps)
  }
  const earlier = await findRequest(deps.store, earlierId!)
  if (!earlier) throw sourceExpired()
  return checkOutput(earlier, row.source_output!, options, deps)
}

/**
 * Uses the audio file of an output as the source rather than its video, whose sound was encoded a
 * second time.
 */
async function checkOutput(
  row: RequestRow,
  name: OutputName,
  { spans }: Submission['options'],
  { clock, config }: SourceDeps,
): Promise<CheckedSource> {
  const stored = hasResult(row, clock.now()) && storedPart(row, name)
  if (!stored) throw outputsExpired()
  const duration = row.duration! // of a completed request
  assertNotTooLong(duration, config.mediaSecondsMax)
  assertSpansBegin(spans, duration)
  const { request_id: requestId } = row
  return {
    columns: {
      ...NO_SOURCE,
      source_request_id: requestId,
      source_output: name,
      file_name: stored.fileName,
      duration,
    },
    async keep(store) {
      if (!(await keepOutputs(store, requestId))) throw outputsExpired()
    },
  }
}

const outputsExpired = () =>
  new ServiceError('FILE_EXPIRED', {
    message: 'The outputs of this request have expired; separate its media again.',
    param: REQUEST_PARAM,
  })

const sourceExpired = () =>
  new ServiceError('FILE_EXPIRED', {
    message: 'The source of this request is no longer kept; upload it again.',
    param: REQUEST_PARAM,
  })

async function checkFile(fileId: string, accountId: string, deps: SourceDeps): Promise<FileRow> {
  const param = 'input.file_id'
  const row = await findFile(deps.store, fileId)
  if (row?.account_id !== accountId) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: 'input.file_id is not a file of this account; create one with POST /v1/files.',
      param,
    })
  }
  const file = await deps.pendingUploads.accept(row).catch((cause: unknown) => {
    throw new ServiceError('QUEUE_UNAVAILABLE', { cause })
  })
  const status = fileStatus(file, deps.clock.now())
  if (status === 'pending') throw new ServiceError('FILE_NOT_UPLOADED', { param })
  if (status === 'expired') throw new ServiceError('FILE_EXPIRED', { param })
  return file
}

async function checkUrl(
  url: string,
  user: EgressUser,
  { checkAudioUrl }: SourceDeps,
): Promise<CheckedSource> {
  await checkAudioUrl(url, user)
  return {
    columns: { ...NO_SOURCE, audio_url: url, file_name: nameInUrl(url) },
    keep: async () => undefined, // its bytes are not stored here
  }
}

/**
 * Returns the name of a source that its client did not name. It has no folders, and is no longer
 * than the name of an upload may be.
 */
export function sourceName(text: string): string {
  const name =
    text
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\p{Cc}/gu, '_') || 'audio'
  return [...name].slice(0, LIMITS.fileNameCharactersMax).join('')
}

/** Returns the last part of the path, decoded for people. */
export const nameInUrl = (url: string): string =>
  sourceName(
    (new URL(url).pathname.split('/').at(-1) ?? '').replace(/(%[\da-f]{2})+/gi, decodePercent),
  )

/** Decodes a text, unless its percent signs are ordinary characters. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
