/**
 * The resources of the API (docs/reference/contract.md, part 2) as JSON Schemas, for the checks of
 * bodies and the API description. A schema with a title is a component of the description.
 */

import { Type, type Static, type TSchema, type TSchemaOptions } from 'typebox'
import { pagedListOf } from './list-schemas.ts'
import { ERRORS, FAILURE_CODES } from '../../shared/errors.ts'
import { ID_CHARACTERS_MAX } from '../../shared/ids.ts'
import { AUTO } from '../../shared/prompts/route-prompt.ts'
import { PRIORITIES } from '../../shared/priority.ts'
import { REQUEST_STATUSES } from '../../shared/request-status.ts'
import {
  AudioSpan,
  DEFAULT_OPTIONS,
  LIMITS,
  SeparationOptions,
} from '../../shared/separation-options.ts'
import { Findings, PromptFinding, TargetRecognition, SEVERAL } from './finding-schemas.ts'
import { DELIVERY_STATES } from '../store/schema/webhook-tables.ts'

export const MODEL_ID = 'audio/separate'
/** An extension: lists the sounds of media. */
export const SOUNDS_MODEL = 'audio/sounds'
export type ModelId = typeof MODEL_ID | typeof SOUNDS_MODEL

export const DateTime = Type.String({ format: 'date-time' })
export const Uri = Type.String({ format: 'uri' })
const ModelId = Type.Enum([MODEL_ID, SOUNDS_MODEL], {
  description: 'What was requested. `audio/sounds`, a list of sounds, is an extension.',
})
export const Count = Type.Integer({ minimum: 0 })
export const Nullable = <T extends TSchema>(schema: T, options: TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options)

export const ErrorResponse = Type.Object(
  {
    error: Type.Object({
      code: Type.Enum(Object.keys(ERRORS), { description: 'Machine-readable.' }),
      message: Type.String({ description: 'What was wrong, and what would be valid.' }),
      param: Type.Optional(
        Type.String({ description: 'The field that was wrong, for example `input.spans[2].end`.' }),
      ),
      request_id: Type.Optional(
        Type.String({ description: 'The request that the error is about, if any.' }),
      ),
    }),
  },
  { title: 'ErrorResponse' },
)

/** Describes what `checkBody` requires of all text. */
export const NO_NUL = '^[^\\x00]*$'

const SpanInput = Type.Object(
  { ...AudioSpan.properties, include: Type.Optional(AudioSpan.properties.include) },
  { title: 'AudioSpan', additionalProperties: false },
)

const option = <Name extends keyof SeparationOptions>(name: Name, description: string) =>
  Type.Optional({
    ...SeparationOptions.properties[name],
    description,
    default: DEFAULT_OPTIONS[name],
  })

const WHAT = 'The sound to extract, in plain language; counted after trimming.'
const Prompt = Type.String({
  pattern: NO_NUL,
  minLength: 1,
  maxLength: LIMITS.promptCharactersMax,
  description: WHAT,
})

export const AudioSeparateInput = Type.Object(
  {
    prompt: Type.Optional({ ...Prompt, description: `${WHAT} Exactly one of prompt and prompts.` }),
    prompts: Type.Optional(
      Type.Array(Prompt, {
        minItems: 2,
        maxItems: LIMITS.promptsMax,
        description:
          'An extension: several sounds in the same media, each with its own target. They share ' +
          'one residual, which is what none of the targets took. The options apply to all of ' +
          'them.',
      }),
    ),
    audio_url: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        maxLength: LIMITS.audioUrlCharactersMax,
        description:
          'A public HTTPS URL of audio or video. Spaces and letters are encoded as in browsers. ' +
          'Exactly one of audio_url, file_id and request_id.',
      }),
    ),
    file_id: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        maxLength: ID_CHARACTERS_MAX,
        description: 'The id of an uploaded file.',
      }),
    ),
    request_id: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        maxLength: ID_CHARACTERS_MAX,
        description:
          'An extension: an earlier request, one of whose outputs, or whose source, is the ' +
          'media. Requires `output`.',
      }),
    ),
    output: Type.Optional(
      Type.Enum(['target', 'residual', 'source'], {
        description:
          'An extension: which output of the COMPLETED request `request_id` to use. `source` is ' +
          'the media that a request in any state was to separate.',
      }),
    ),
    output_index: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.promptsMax - 1,
        description: 'An extension: index of the target in `data.targets` (default 0).',
      }),
    ),
    audio_track: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.audioTrackMax,
        description:
          'An extension: which audio track of the media to separate, from 1. By default it is ' +
          'the best one, or two matching mono tracks as the channels of one sound; `logs` name ' +
          'the others.',
      }),
    ),
    separator: Type.Optional({
      ...SeparationOptions.properties.separator,
      default: AUTO,
      description:
        'An extension: the model that answers all prompts, named as in `GET /v1/models`. With ' +
        '`auto`, the words of each prompt decide.',
    }),
    side: Type.Optional(
      Type.Enum(['target', 'residual'], {
        default: 'target',
        description:
          'An extension: which output you will keep. With `residual`, the sounds are removed at ' +
          'full level even if it is uncertain that they are present; with `target`, uncertain ' +
          'targets are softened.',
      }),
    ),
    preview: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'An extension: also makes a compressed preview, at `data.preview_url`.',
      }),
    ),
    predict_spans: option('predict_spans', 'Predict first where the target sounds.'),
    reranking_candidates: option('reranking_candidates', 'Candidates to choose the best from.'),
    acceleration: option('acceleration', 'Speed against quality.'),
    max_chunk_duration: option(
      'max_chunk_duration',
      'Seconds of media in one model pass; anything less than ' +
        `${LIMITS.chunkSecondsMin} counts as ${LIMITS.chunkSecondsMin}.`,
    ),
    chunk_overlap: option(
      'chunk_overlap',
      'Seconds that neighbouring chunks share; at most half a chunk is used.',
    ),
    output_format: option('output_format', 'Format of the outputs.'),
    spans: Type.Optional(
      Type.Array(SpanInput, {
        maxItems: LIMITS.spansMax,
        description: 'Where the target is present, or absent.',
      }),
    ),
  },
  { title: 'AudioSeparateInput', additionalProperties: false },
)

export const WebhookDeliveryStatus = Type.Object(
  {
    delivery_status: Type.Enum([...DELIVERY_STATES]),
    attempts: Type.Integer({ description: 'Attempts started so far.' }),
    delivered_at: Nullable(DateTime),
    last_error: Nullable(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { title: 'WebhookDeliveryStatus' },
)

export const WebhookUrl = Type.String({
  format: 'uri',
  maxLength: LIMITS.webhookUrlCharactersMax,
  description: 'A public HTTPS URL to notify when the request ends; see `webhooks`.',
})

export const WebhookSecret = Type.String({
  pattern: NO_NUL,
  minLength: LIMITS.webhookSecretCharactersMin,
  maxLength: LIMITS.webhookSecretCharactersMax,
  description:
    'The secret that signs the webhook: its UTF-8 bytes or, after `whsec_`, its base64-decoded ' +
    'bytes. Without one the service creates one.',
})

export const DeliveryAttemptList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          started_at: DateTime,
          duration_ms: Type.Integer(),
          status_code: Nullable(
            Type.Integer({ description: 'Status of the response; `null` if there was none.' }),
          ),
          error: Nullable(
            Type.String({ description: 'Why it was not delivered; `null` if it was.' }),
          ),
        },
        { title: 'DeliveryAttempt' },
      ),
    ),
  },
  { title: 'DeliveryAttemptList' },
)

export const SubmitAudioSeparateRequest = Type.Object(
  {
    input: AudioSeparateInput,
    priority: Type.Optional(
      Type.Enum([...PRIORITIES], {
        description:
          'An extension: `batch` lets interactive requests go first. The default is the highest ' +
          'class that the account may have, usually `interactive`.',
      }),
    ),
    webhookUrl: Type.Optional(WebhookUrl),
    webhookSecret: Type.Optional(WebhookSecret),
    metadata: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            `Returned in the webhook; at most ${LIMITS.metadataBytesMax} bytes of JSON, nested ` +
            `up to ${LIMITS.metadataDepthMax} levels.`,
        },
      ),
    ),
  },
  { title: 'SubmitAudioSeparateRequest' },
)

export const QueueSubmitResponse = Type.Object(
  {
    request_id: Type.String(),
    status: Type.Literal('IN_QUEUE'),
    model: ModelId,
    created_at: DateTime,
    status_url: Uri,
    stream_url: Uri,
    result_url: Uri,
    webhook: Type.Optional(
      Type.Object({
        url: Uri,
        signing_secret: Type.Optional(
          Type.String({
            description: 'Only if the service created it, and only in this response.',
          }),
        ),
      }),
    ),
  },
  { title: 'QueueSubmitResponse' },
)

export const Metadata = Type.Optional(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'An extension: as submitted, except that large numbers are rounded.',
    },
  ),
)

export const QueueStatusResponse = Type.Object(
  {
    request_id: Type.String(),
    model: ModelId,
    status: Type.Enum([...REQUEST_STATUSES]),
    priority: Type.Optional(Type.Enum([...PRIORITIES], { description: 'An extension.' })),
    created_at: DateTime,
    updated_at: DateTime,
    result_url: Uri,
    logs: Type.Optional(Type.Array(Type.Object({ timestamp: DateTime, message: Type.String() }))),
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    preview_seconds: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          'An extension: how much of the media can be played while the rest is still separated; ' +
          'see `GET /v1/queue/requests/{request_id}/live-preview`.',
      }),
    ),
    queue_position: Type.Optional(Type.Integer({ minimum: 1, description: '1 means next.' })),
    estimated_seconds_left: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'An extension: estimated time until the end, if it can be estimated.',
      }),
    ),
    error: Type.Optional(
      Type.Object(
        { code: Type.Enum([...FAILURE_CODES]), message: Type.String() },
        { description: 'Why the request FAILED.' },
      ),
    ),
    webhook: Type.Optional(WebhookDeliveryStatus),
    metadata: Metadata,
    ...TargetRecognition.properties,
    targets: Type.Optional(Type.Array(PromptFinding, { description: SEVERAL })),
    findings: Findings,
  },
  { title: 'QueueStatusResponse' },
)

const ListedRequest = Type.Object(
  {
    ...QueueStatusResponse.properties,
    prompt: Type.String({
      description: 'The first one if there are several; empty for a list of sounds.',
    }),
    prompts: Type.Optional(
      Type.Array(Type.String(), { description: 'Present if there are several.' }),
    ),
    file_name: Type.String({ description: 'Name of the source.' }),
    retention: Type.Optional(
      Type.Object(
        { delete_after: DateTime },
        { description: 'For a completed request: until when its outputs are kept.' },
      ),
    ),
  },
  { title: 'ListedRequest' },
)

export const RequestList = pagedListOf(ListedRequest, 'RequestList')

export const StreamTimeout = Type.Object(
  { request_id: Type.String(), status: Type.Enum([...REQUEST_STATUSES]), message: Type.String() },
  { title: 'StreamTimeout' },
)

export type SubmitAudioSeparateRequest = Static<typeof SubmitAudioSeparateRequest>
export type QueueSubmitResponse = Static<typeof QueueSubmitResponse>
export type DeliveryAttemptList = Static<typeof DeliveryAttemptList>
export type WebhookDeliveryStatus = Static<typeof WebhookDeliveryStatus>
export type QueueStatusResponse = Static<typeof QueueStatusResponse>
export type RequestList = Static<typeof RequestList>
export type ErrorResponse = Static<typeof ErrorResponse>
