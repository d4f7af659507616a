/** Turns rows into the responses of the contract. */

import type { FailureCode } from '../../../shared/errors.ts'
import {
  targetNames,
  type LogLine,
  type OutputName,
  type OutputPart,
  type Progress,
} from '../../../shared/messages.ts'
import { findingText } from '../../../shared/finding-text.ts'
import { costOf } from '../../accounts/credits.ts'
import type { MediaStore } from '../../media-store/media-store.ts'
import type { TargetRecognition } from '../../api/finding-schemas.ts'
import type { OutputFile, SeparationData } from '../../api/result-schemas.ts'
import {
  MODEL_ID,
  SOUNDS_MODEL,
  type ModelId,
  type QueueStatusResponse,
  type QueueSubmitResponse,
  type WebhookDeliveryStatus,
} from '../../api/schemas.ts'
import type { AnyResultResponse, SoundsData } from '../../api/sounds-schemas.ts'
import type { Settings } from '../../config.ts'
import { decrypt } from '../../secrets.ts'
import { promptsOfRow } from '../../store/requests.ts'
import { outputKey } from '../../media-store/keys.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import { findingsOf, outputsOf, soundsOf, storedPart } from './outputs.ts'

/** The part of a request's state that is not in its row. */
export interface LiveState {
  progress?: number | undefined
  livePreview?: Progress['live_preview']
  queuePosition?: number | undefined
  secondsLeft?: number | undefined
  logs?: LogLine[] | undefined
  webhook?: WebhookDeliveryStatus | undefined
}

export interface MediaPresenter {
  mediaStore: Pick<MediaStore, 'downloadUrl'>
  config: Settings<'publicUrl'>
}

/** Returns the API's name for what a request asked for. */
export const modelOf = ({ kind }: Pick<RequestRow, 'kind'>): ModelId =>
  kind === 'sounds' ? SOUNDS_MODEL : MODEL_ID

export function presentSubmitted(
  row: RequestRow,
  config: Settings<'publicUrl' | 'encryptionKeys'>,
): QueueSubmitResponse {
  const base = requestUrl(row, config)
  return {
    request_id: row.request_id,
    status: 'IN_QUEUE',
    model: modelOf(row),
    created_at: row.created_at,
    status_url: `${base}/status`,
    stream_url: `${base}/status/stream`,
    result_url: `${base}/result`,
    ...(row.webhook_url !== null && {
      webhook: { url: row.webhook_url, ...generatedSecret(row, config) },
    }),
  }
}

/** Returns the secret if it was generated; one that the client chose is not repeated. */
function generatedSecret(row: RequestRow, { encryptionKeys }: Settings<'encryptionKeys'>) {
  if (row.webhook_secret === null || row.webhook_secret_generated === 0) return {}
  return { signing_secret: decrypt(encryptionKeys, row.request_id, row.webhook_secret) }
}

export function presentStatus(
  row: RequestRow,
  { progress, livePreview, queuePosition, secondsLeft, logs, webhook }: LiveState,
  config: Settings<'publicUrl'>,
): QueueStatusResponse {
  return {
    request_id: row.request_id,
    model: modelOf(row),
    status: row.status,
    priority: row.priority,
    created_at: row.created_at,
    updated_at: row.updated_at,
    result_url: `${requestUrl(row, config)}/result`,
    ...(logs && { logs }),
    ...(row.status === 'IN_PROGRESS' && progress !== undefined && { progress }),
    ...(row.status === 'IN_PROGRESS' && livePreview && { preview_seconds: livePreview.seconds }),
    ...(row.status === 'IN_QUEUE' && queuePosition && { queue_position: queuePosition }),
    ...(secondsLeft !== undefined && { estimated_seconds_left: secondsLeft }),
    ...(row.status === 'FAILED' && { error: failureOf(row) }),
    ...(webhook && { webhook }),
    ...presentMetadata(row),
    ...(row.status === 'COMPLETED' && row.kind === 'separate' && presentFindings(row)),
  }
}

const presentMetadata = ({ metadata }: RequestRow): Pick<QueueStatusResponse, 'metadata'> =>
  metadata === null ? {} : { metadata: JSON.parse(metadata) as object }

/**
 * Returns how each prompt was understood, with the first one's fields at the top level, and the
 * findings, if there are any.
 */
function presentFindings(
  row: RequestRow,
): TargetRecognition & Pick<QueueStatusResponse, 'targets' | 'findings'> {
  const all = findingsOf(row)
  const findings = all.flatMap(({ prompt, finding }) => {
    const { state, model, ...details } = finding
    const message = findingText(prompt, finding)
    if (state === undefined || message === null) return []
    return [{ prompt, ...details, ...separatorOf(model), state, message }]
  })
  const recognised = all.map(({ prompt, finding: { match, understood_as: name, model } }) => ({
    prompt,
    ...(match !== undefined && { match }),
    ...(name !== undefined && { understood_as: name }),
    ...separatorOf(model),
  }))
  const { prompt: _of, ...first } = recognised[0]!
  const hasTargets = recognised.length > 1 && Object.keys(first).length > 0
  return {
    ...first,
    ...(hasTargets && { targets: recognised }),
    ...(findings.length > 0 && { findings }),
  }
}

/** The API calls the model that answered `separator`, because `model` is what was asked for. */
const separatorOf = (model: string | undefined) => (model === undefined ? {} : { separator: model })

export const failureOf = (row: RequestRow): { code: FailureCode; message: string } => ({
  code: row.error_code as FailureCode,
  message: row.error_message ?? '',
})

/** Returns the result of a COMPLETED request whose outputs are still there. */
export async function presentResult(
  row: RequestRow,
  deps: MediaPresenter,
  webhook?: WebhookDeliveryStatus,
): Promise<AnyResultResponse> {
  const { duration, outputs_expire_at: deleteAfter } = row
  if (deleteAfter === null || duration === null) throw notCompleted(row)
  const same = {
    usage: {
      feature: 'audio_seconds',
      quantity: costOf(row, duration),
      billing_status: row.billing_status ?? 'not_metered',
    },
    ...(webhook && { webhook }),
    ...presentMetadata(row),
    retention: { delete_after: deleteAfter },
  } as const
  const head = { request_id: row.request_id, status: 'COMPLETED' } as const
  if (row.kind === 'sounds') {
    const data: SoundsData = { sounds: soundsOf(row) ?? [], duration }
    return { ...head, model: SOUNDS_MODEL, data, ...same }
  }
  const data = await presentData(row, deps, Date.parse(deleteAfter))
  return { ...head, model: MODEL_ID, data, ...same }
}

const notCompleted = ({ request_id: id }: RequestRow) =>
  new Error(`the request ${id} is not completed`)

/**
 * Returns the outputs of a COMPLETED separation, with what was found.
 * @param expiresAt when their addresses expire, in epoch milliseconds
 */
export async function presentData(
  row: RequestRow,
  deps: MediaPresenter,
  expiresAt: number,
): Promise<SeparationData & { duration: number }> {
  const { duration, sample_rate: sampleRate } = row
  if (duration === null || sampleRate === null) throw notCompleted(row)
  const fileOf = (name: OutputName) => outputFile(row, name, deps, expiresAt)
  const prompts = promptsOfRow(row)
  const [residual, target, ...further] = await Promise.all([
    fileOf('residual'),
    fileOf('target'),
    ...targetNames(prompts.length).slice(1).map(fileOf),
  ])
  const { targets: recognitions = [], ...findings } = presentFindings(row)
  const { gain_db: gainDb } = outputsOf(row)
  const sounds = soundsOf(row)
  const previewUrl = await partUrl(row, 'preview', deps, expiresAt)
  const targets = [target, ...further].map((file, i) => ({
    prompt: prompts[i]!,
    ...file,
    ...recognitions[i],
  }))
  return {
    target,
    ...(targets.length > 1 && { targets }),
    residual,
    duration,
    sample_rate: sampleRate,
    ...(previewUrl !== undefined && { preview_url: previewUrl }),
    ...(gainDb !== undefined && { gain_db: gainDb }),
    ...findings,
    ...(sounds && { sounds }),
  }
}

const requestUrl = (row: RequestRow, { publicUrl }: Settings<'publicUrl'>): string =>
  `${publicUrl()}/v1/queue/requests/${row.request_id}`

async function outputFile(
  row: RequestRow,
  name: OutputName,
  deps: MediaPresenter,
  expiresAt: number,
): Promise<OutputFile> {
  const file = await signedPart(row, name, deps, expiresAt)
  const videoUrl = await partUrl(row, `${name}_video`, deps, expiresAt)
  if (!file) throw new Error(`the request ${row.request_id} has no ${name}`)
  return {
    url: file.url,
    ...(videoUrl !== undefined && { video_url: videoUrl }),
    content_type: file.content_type,
    file_name: file.fileName,
  }
}

/**
 * Returns an address of a part of a COMPLETED request, or undefined if the part is not stored.
 * @param expiresAt when the address expires, in epoch milliseconds
 */
export const partUrl = async (...part: Parameters<typeof signedPart>) =>
  (await signedPart(...part))?.url

async function signedPart(
  row: RequestRow,
  part: OutputPart,
  { mediaStore }: MediaPresenter,
  expiresAt: number,
) {
  const stored = storedPart(row, part)
  if (!stored) return undefined
  const url = await mediaStore.downloadUrl({
    key: outputKey(row.request_id, part, stored.place),
    audience: 'client',
    expiresAt,
    contentType: stored.content_type,
    fileName: stored.fileName,
  })
  return { ...stored, url }
}
