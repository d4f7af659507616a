/** The messages of separation.proto, and their translation from and to those of the HTTP API. */

import type { Static } from 'typebox'
import { ServiceError } from '../../shared/errors.ts'
import type { Recognition } from '../../shared/finding.ts'
import type { RequestStatus } from '../../shared/request-status.ts'
import { assertFewValues } from '../api/body-text.ts'
import { compactJson } from '../api/json-text.ts'
import type {
  AudioSeparateInput,
  QueueStatusResponse,
  QueueSubmitResponse,
  RequestList,
} from '../api/schemas.ts'
import type { AnyResultResponse, AudioSoundsInput } from '../api/sounds-schemas.ts'
import type { SeparationCall } from '../requests/separate.ts'

// Requests. Fields that are `optional` in the proto are absent when they are not set.

export interface SubmitRequest {
  input: SeparationInput | null
  sounds: SoundsInput | null
  webhook_url?: string
  webhook_secret?: string
  priority?: string
  metadata_json?: string
}

/** Has one of the two. */
export interface SeparateRequest {
  options?: SeparateOptions
  piece?: Buffer
}

export interface SeparateOptions {
  submit: SubmitRequest | null
  file: { name: string; content_type: string; size: number } | null
  wait_seconds?: number
}

/** The name of an enum's value, or the number of one that this version does not know. */
type EnumValue = string | number

type SoundsInput = Omit<Static<typeof AudioSoundsInput>, 'output'> & { output: EnumValue }

type SeparationInput = Omit<Static<typeof AudioSeparateInput>, keyof ChangedFields> & ChangedFields

/** The fields of a separation's input that differ from those of the HTTP API. */
interface ChangedFields {
  output: EnumValue
  prompt: string
  prompts: string[]
  acceleration: EnumValue
  output_format: EnumValue
}

export interface GetRequest {
  request_id: string
  logs: boolean
}

export interface WatchRequest extends GetRequest {
  interval_seconds?: number
}

/** The message of Cancel and Delete, which only names a request. */
export type RequestIdMessage = Pick<GetRequest, 'request_id'>

export interface DeleteFileRequest {
  file_id: string
}

export interface ListRequest {
  page_size?: number
  page_token: string
  status: RequestStatus | 'STATUS_UNSPECIFIED' | number
  model: string
  created_from_ms?: number
  created_before_ms?: number
}

/** Returns the equivalent values of an HTTP query, still unchecked. */
export const listQuery = ({
  status,
  model,
  created_from_ms: from,
  created_before_ms: before,
}: ListRequest) => ({
  ...(status !== 'STATUS_UNSPECIFIED' && { status }),
  model,
  ...(from !== undefined && { created_from: timeText(from) }),
  ...(before !== undefined && { created_before: timeText(before) }),
})

/** Returns a time as text. One that no date can hold stays a number, which is refused later. */
const timeText = (ms: number): string =>
  Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms)

/**
 * Returns the equivalent HTTP body, still unchecked.
 * @throws ServiceError `INVALID_REQUEST` if the metadata is not JSON or holds too many values, or
 *   if both a separation and sounds are asked for
 */
export function submitBody({
  input,
  sounds,
  webhook_url: webhookUrl,
  webhook_secret: webhookSecret,
  priority,
  metadata_json,
}: SubmitRequest): Pick<SeparationCall, 'kind' | 'body' | 'metadataText'> {
  if (input && sounds) {
    const message = 'Exactly one of input and sounds must be given.'
    throw new ServiceError('INVALID_REQUEST', { message, param: 'sounds' })
  }
  const kind = sounds ? 'sounds' : 'separate'
  const body = {
    ...(input && { input: inputBody(input) }),
    ...(sounds && { input: sourceBody(sounds) }),
    ...(priority !== undefined && { priority }),
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...(webhookSecret !== undefined && { webhookSecret }),
  }
  if (metadata_json === undefined) return { kind, body }
  assertFewValues(metadata_json)
  const metadata = parseMetadata(metadata_json)
  return { kind, body: { ...body, metadata }, metadataText: compactJson(metadata_json) }
}

const inputBody = ({
  prompt,
  prompts,
  acceleration,
  output_format,
  ...source
}: SeparationInput): object => ({
  ...sourceBody(source),
  ...(prompts.length === 0 ? { prompt } : { prompts, ...(prompt !== '' && { prompt }) }),
  ...(isSet(acceleration) && { acceleration: enumName(acceleration) }),
  ...(isSet(output_format) && { output_format: enumName(output_format) }),
})

const sourceBody = ({ output, ...source }: SoundsInput): object => ({
  ...source,
  ...(isSet(output) && { output: enumName(output) }),
})

const isSet = (value: EnumValue): boolean => !String(value).endsWith('_UNSPECIFIED')

/**
 * Returns an enum's value as the HTTP API writes it. An unknown value is a number, which is refused
 * later.
 */
const enumName = (value: EnumValue): EnumValue =>
  typeof value === 'string' ? value.toLowerCase() : value

function parseMetadata(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = 'metadata_json must be a JSON object.'
    throw new ServiceError('INVALID_REQUEST', { message, param: 'metadata', cause })
  }
}

// Responses. Times are epoch milliseconds.

export interface SubmitReply extends Omit<QueueSubmitResponse, 'created_at'> {
  created_at_ms: number
}

export interface SeparateReply {
  submitted: SubmitReply
  separation?: Separation
}

export interface Separation extends Pick<
  QueueStatusResponse,
  | 'request_id'
  | 'model'
  | 'status'
  | 'result_url'
  | 'progress'
  | 'queue_position'
  | 'estimated_seconds_left'
  | 'error'
  | 'match'
  | 'understood_as'
  | 'separator'
  | 'targets'
  | 'findings'
> {
  created_at_ms: number
  updated_at_ms: number
  logs?: { timestamp_ms: number; message: string }[]
  metadata_json?: string
  webhook?: Omit<WebhookDelivery, 'delivered_at'> & { delivered_at_ms?: number }
  result?: AnyResultResponse['data'] &
    Pick<AnyResultResponse, 'usage'> & { delete_after_ms?: number }
}

export interface ListReply {
  separations: Separation[]
  next_page_token: string
}

interface WebhookDelivery {
  delivery_status: string
  attempts: number
  delivered_at: string | null
  last_error: string | null
}

export const submitReply = ({ created_at, ...submitted }: QueueSubmitResponse): SubmitReply => ({
  ...submitted,
  created_at_ms: Date.parse(created_at),
})

/** @param result the result, if the request is completed and its outputs are still kept */
export function separationOf(
  status: QueueStatusResponse & { webhook?: WebhookDelivery },
  result?: AnyResultResponse,
): Separation {
  const { created_at, updated_at, logs, webhook, metadata, ...same } = status
  return {
    ...findingsOf(same),
    created_at_ms: Date.parse(created_at),
    updated_at_ms: Date.parse(updated_at),
    ...(logs && {
      logs: logs.map(({ timestamp, message }) => ({
        timestamp_ms: Date.parse(timestamp),
        message,
      })),
    }),
    ...(webhook && { webhook: deliveryOf(webhook) }),
    ...(metadata && { metadata_json: JSON.stringify(metadata) }),
    ...(result && { result: resultMessage(result) }),
  }
}

const deliveryOf = ({ delivered_at, ...same }: WebhookDelivery) => ({
  ...same,
  ...(delivered_at !== null && { delivered_at_ms: Date.parse(delivered_at) }),
})

/** Replaces null, which messages do not have: an empty name means that none is near the prompt. */
const withoutNull = <T extends Recognition>(finding: T) => ({
  ...finding,
  ...(finding.understood_as === null && { understood_as: '' }),
})

interface FindingFields extends Recognition {
  targets?: Recognition[]
  findings?: Recognition[]
}

const findingsOf = <T extends FindingFields>(data: T) => ({
  ...withoutNull(data),
  ...(data.targets && { targets: data.targets.map(withoutNull) }),
  ...(data.findings && { findings: data.findings.map(withoutNull) }),
})

const resultMessage = ({ data, usage, retention }: AnyResultResponse) => ({
  ...findingsOf<AnyResultResponse['data'] & FindingFields>(data),
  usage,
  ...(retention.delete_after !== undefined && {
    delete_after_ms: Date.parse(retention.delete_after),
  }),
})

export const listReply = ({ data, next_cursor: cursor }: RequestList): ListReply => ({
  separations: data.map((status) => separationOf(status)),
  next_page_token: cursor ?? '',
})
