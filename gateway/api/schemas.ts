/**
 * The resources of the API (docs/reference/contract.md, part 2) as JSON Schemas, for the checks of
 * bodies and the API description. A schema with a title is a component of the description.
 */

import { Type, type Static, type TSchema } from 'typebox'
import { ERRORS, FAILURE_CODES } from '../../shared/errors.ts'
import { HeardSounds } from '../../shared/heard-sounds.ts'
import { ID_CHARACTERS_MAX } from '../../shared/ids.ts'
import { gainField } from '../../shared/messages.ts'
import { AUTO } from '../../shared/prompts/route-prompt.ts'
import { REQUEST_STATUSES } from '../../shared/request-status.ts'
import {
  AudioSpan,
  DEFAULT_OPTIONS,
  LIMITS,
  SeparationOptions,
} from '../../shared/separation-options.ts'
import { Findings, PromptFinding, Recognised, SEVERAL } from './finding-schemas.ts'

export const MODEL_ID = 'audio/separate'
/** An extension: lists the sounds of media. */
export const SOUNDS_MODEL = 'audio/sounds'
export type ModelId = typeof MODEL_ID | typeof SOUNDS_MODEL

export const DateTime = Type.String({ format: 'date-time' })
const Uri = Type.String({ format: 'uri' })
const ModelId = Type.Enum([MODEL_ID, SOUNDS_MODEL], {
  description: 'What was asked for; `audio/sounds`, a list of sounds, is an extension.',
})
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const ErrorResponse = Type.Object(
  {
    error: Type.Object({
      code: Type.Enum(Object.keys(ERRORS), { description: 'Machine-readable.' }),
      message: Type.String({ description: 'What was wrong and what would be right.' }),
      param: Type.Optional(Type.String({ description: 'The field: `input.spans[2].end`.' })),
      request_id: Type.Optional(Type.String({ description: 'The queue request, if any.' })),
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
          'An extension: several sounds of one media, each with a target of its own and all with ' +
          'one residual, which is what none of them took. All options hold for each.',
      }),
    ),
    audio_url: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        maxLength: LIMITS.audioUrlCharactersMax,
        description:
          'Public HTTPS URL of audio or video; spaces and letters are encoded as browsers do ' +
          'it. Exactly one of audio_url, file_id and request_id.',
      }),
    ),
    file_id: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        maxLength: ID_CHARACTERS_MAX,
        description: 'Of an uploaded file.',
      }),
    ),
    request_id: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        maxLength: ID_CHARACTERS_MAX,
        description:
          'An extension: of an earlier request, whose output or source is the media. With ' +
          '`output`.',
      }),
    ),
    output: Type.Optional(
      Type.Enum(['target', 'residual', 'source'], {
        description:
          'An extension: which output of the COMPLETED request of `request_id`; `source`: what ' +
          'that request, in any state, was to separate.',
      }),
    ),
    output_index: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.promptsMax - 1,
        description: 'An extension: the place in `data.targets` of the target; 0 by default.',
      }),
    ),
    audio_track: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS.audioTrackMax,
        description:
          "An extension: which of the media's tracks of sound, from 1. By default the best, or " +
          'two of one channel that are alike, as the channels of one sound; `logs` name the rest.',
      }),
    ),
    separator: Type.Optional({
      ...SeparationOptions.properties.separator,
      default: AUTO,
      description:
        'An extension: the model that answers all prompts, by its name in `GET /v1/models`; ' +
        '`auto`: the words of each prompt decide.',
    }),
    side: Type.Optional(
      Type.Enum(['target', 'residual'], {
        default: 'target',
        description:
          'An extension: which output is kept. `residual`: the sounds are taken out at their ' +
          'full level even where it is unsure that they are there; a `target` is softer there.',
      }),
    ),
    preview: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'An extension: also make what `data.preview_url` streams.',
      }),
    ),
    predict_spans: option('predict_spans', 'Predict first where the target sounds.'),
    reranking_candidates: option('reranking_candidates', 'Candidates to choose the best from.'),
    acceleration: option('acceleration', 'Speed against quality.'),
    max_chunk_duration: option(
      'max_chunk_duration',
      `Seconds of media in one model pass; less than ${LIMITS.chunkSecondsMin} is taken for ${
        LIMITS.chunkSecondsMin
      }.`,
    ),
    chunk_overlap: option(
      'chunk_overlap',
      'Seconds; more than half a chunk is taken for half of one.',
    ),
    output_format: option('output_format', 'Coding of the outputs.'),
    spans: Type.Optional(
      Type.Array(SpanInput, {
        maxItems: LIMITS.spansMax,
        description: 'Where the target sounds, or does not.',
      }),
    ),
  },
  { title: 'AudioSeparateInput', additionalProperties: false },
)

export const WebhookDeliveryStatus = Type.Object(
  {
    delivery_status: Type.Enum(['pending', 'sending', 'delivered', 'failed']),
    attempts: Type.Integer({ description: 'Attempts begun.' }),
    delivered_at: Nullable(DateTime),
    last_error: Nullable(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { title: 'WebhookDeliveryStatus' },
)

export const WebhookUrl = Type.String({
  format: 'uri',
  maxLength: LIMITS.webhookUrlCharactersMax,
  description: 'Public HTTPS URL that receives the end of the request; see `webhooks`.',
})

export const WebhookSecret = Type.String({
  pattern: NO_NUL,
  minLength: LIMITS.webhookSecretCharactersMin,
  maxLength: LIMITS.webhookSecretCharactersMax,
  description:
    'Signs the webhook: its UTF-8 bytes or, after `whsec_`, its bytes in base64. ' +
    'Without one we make one.',
})

export const DeliveryAttemptList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(
      Type.Object(
        {
          started_at: DateTime,
          duration_ms: Type.Integer(),
          status_code: Nullable(Type.Integer({ description: 'Of the answer; null: none came.' })),
          error: Nullable(Type.String({ description: 'Why it did not deliver; null: it did.' })),
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
    webhookUrl: Type.Optional(WebhookUrl),
    webhookSecret: Type.Optional(WebhookSecret),
    metadata: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            `Comes back in the webhook; at most ${LIMITS.metadataBytesMax} bytes of ` +
            `JSON, nested ${LIMITS.metadataDepthMax} levels deep.`,
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
          Type.String({ description: 'Only when we made it, and only here.' }),
        ),
      }),
    ),
  },
  { title: 'QueueSubmitResponse' },
)

const Metadata = Type.Optional(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'An extension: as given at submit; large numbers are rounded.',
    },
  ),
)

export const QueueStatusResponse = Type.Object(
  {
    request_id: Type.String(),
    model: ModelId,
    status: Type.Enum([...REQUEST_STATUSES]),
    created_at: DateTime,
    updated_at: DateTime,
    result_url: Uri,
    logs: Type.Optional(Type.Array(Type.Object({ timestamp: DateTime, message: Type.String() }))),
    progress: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    queue_position: Type.Optional(Type.Integer({ minimum: 1, description: '1: next.' })),
    estimated_seconds_left: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'An extension: until the end, as far as anything can be said.',
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
    ...Recognised.properties,
    targets: Type.Optional(Type.Array(PromptFinding, { description: SEVERAL })),
    findings: Findings,
  },
  { title: 'QueueStatusResponse' },
)

const ListedRequest = Type.Object(
  {
    ...QueueStatusResponse.properties,
    prompt: Type.String({ description: 'Of several the first; of a list of sounds empty.' }),
    prompts: Type.Optional(Type.Array(Type.String(), { description: 'Where there are several.' })),
    file_name: Type.String({ description: 'Of the source.' }),
    retention: Type.Optional(
      Type.Object(
        { delete_after: DateTime },
        { description: 'Of a completed one: its outputs are kept until then.' },
      ),
    ),
  },
  { title: 'ListedRequest' },
)

export const RequestList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(ListedRequest),
    next_cursor: Nullable(Type.String({ description: 'Of the next page; null: no more.' })),
  },
  { title: 'RequestList' },
)

const OutputFile = Type.Object(
  {
    url: Uri,
    video_url: Type.Optional(Uri),
    content_type: Type.String(),
    file_name: Type.String(),
  },
  { title: 'OutputFile' },
)

const PromptTarget = Type.Object(
  { ...PromptFinding.properties, ...OutputFile.properties },
  { title: 'PromptTarget' },
)

export const SeparationData = Type.Object(
  {
    target: OutputFile,
    targets: Type.Optional(
      Type.Array(PromptTarget, { description: `${SEVERAL} \`target\` is the first.` }),
    ),
    residual: OutputFile,
    duration: Type.Optional(Type.Number({ description: 'Seconds.' })),
    sample_rate: Type.Integer({ description: 'Hertz.' }),
    preview_url: Type.Optional(
      Type.String({
        format: 'uri',
        description:
          'An extension: mixture and outputs as Opus, in segments that the peaks list; only ' +
          'where `preview` was asked for and could be made.',
      }),
    ),
    ...gainField,
    ...Recognised.properties,
    findings: Findings,
    sounds: Type.Optional({
      ...HeardSounds,
      description: 'An extension: all that was heard in the media, the most prominent first.',
    }),
  },
  { title: 'SeparationData' },
)

export const QueueResultResponse = Type.Object(
  {
    request_id: Type.String(),
    model: Type.Literal(MODEL_ID),
    status: Type.Literal('COMPLETED'),
    data: SeparationData,
    usage: Type.Object({
      feature: Type.Optional(Type.Literal('audio_seconds')),
      quantity: Type.Optional(Type.Integer()),
      billing_status: Type.Optional(Type.Enum(['deducted', 'not_metered'])),
    }),
    webhook: Type.Optional(WebhookDeliveryStatus),
    metadata: Metadata,
    retention: Type.Object({ delete_after: Type.Optional(DateTime) }),
  },
  { title: 'QueueResultResponse' },
)

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
export type OutputFile = Static<typeof OutputFile>
export type SeparationData = Static<typeof SeparationData>
export type QueueResultResponse = Static<typeof QueueResultResponse>
export type ErrorResponse = Static<typeof ErrorResponse>
