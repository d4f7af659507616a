/**
 * JSON Schemas of the webhook events (contract 6.1), for the API description and the code that
 * makes the events.
 */

import { Type, type Static } from 'typebox'
import { listOf } from './list-schemas.ts'
import { FAILURE_CODES } from '../../shared/errors.ts'
import type { RequestKind } from '../../shared/request-kind.ts'
import type { RequestStatus } from '../../shared/request-status.ts'
import { QueueResultResponse, SeparationData } from './result-schemas.ts'
import { DateTime, MODEL_ID, Nullable, SOUNDS_MODEL, WebhookSecret, WebhookUrl } from './schemas.ts'
import { SoundsData } from './sounds-schemas.ts'

const common = { request_id: Type.String(), model: Type.Literal(MODEL_ID), created_at: DateTime }
const metadata = Type.Optional(
  Type.Object({}, { additionalProperties: true, description: 'As submitted.' }),
)

export const SeparationCompletedEvent = Type.Object(
  {
    type: Type.Literal('audio.separate.completed'),
    ...common,
    status: Type.Literal('COMPLETED'),
    completed_at: DateTime,
    data: SeparationData,
    usage: QueueResultResponse.properties.usage,
    metadata,
  },
  { title: 'SeparationCompletedEvent' },
)

export const SeparationFailedEvent = Type.Object(
  {
    type: Type.Literal('audio.separate.failed'),
    ...common,
    status: Type.Literal('FAILED'),
    failed_at: DateTime,
    error: Type.Object({ code: Type.Enum([...FAILURE_CODES]), message: Type.String() }),
    metadata,
  },
  { title: 'SeparationFailedEvent' },
)

const ofSounds = { model: Type.Literal(SOUNDS_MODEL) }

export const SoundsCompletedEvent = Type.Object(
  {
    ...SeparationCompletedEvent.properties,
    type: Type.Literal('audio.sounds.completed'),
    ...ofSounds,
    data: SoundsData,
  },
  { title: 'SoundsCompletedEvent' },
)

export const SoundsFailedEvent = Type.Object(
  { ...SeparationFailedEvent.properties, type: Type.Literal('audio.sounds.failed'), ...ofSounds },
  { title: 'SoundsFailedEvent' },
)

export type WebhookEvent =
  | Static<typeof SeparationCompletedEvent>
  | Static<typeof SeparationFailedEvent>
  | Static<typeof SoundsCompletedEvent>
  | Static<typeof SoundsFailedEvent>

/** The types of events that end a request. */
export const EVENT_TYPES = [
  'audio.separate.completed',
  'audio.separate.failed',
  'audio.sounds.completed',
  'audio.sounds.failed',
] as const satisfies readonly WebhookEvent['type'][]

/** Returns the type of the event that tells how a request has ended. */
export const eventTypeOf = ({
  kind,
  status,
}: {
  kind: RequestKind
  status: RequestStatus
}): WebhookEvent['type'] => `audio.${kind}.${status === 'COMPLETED' ? 'completed' : 'failed'}`

export const WebhookTestRequest = Type.Object(
  { webhookUrl: WebhookUrl, webhookSecret: Type.Optional(WebhookSecret) },
  { title: 'WebhookTestRequest', additionalProperties: false },
)

export const WebhookTestResult = Type.Object(
  {
    webhook_id: Type.String({ description: 'The value of the header `webhook-id`.' }),
    delivered: Type.Boolean(),
    status_code: Nullable(
      Type.Integer({ description: 'Status of the response; `null` if there was none.' }),
    ),
    error: Nullable(Type.String({ description: 'Why it was not delivered; `null` if it was.' })),
    duration_ms: Type.Integer(),
    signing_secret: Type.Optional(
      Type.String({ description: 'The secret that signed the event, if none was given.' }),
    ),
  },
  { title: 'WebhookTestResult' },
)

export type WebhookTestResult = Static<typeof WebhookTestResult>

/** One attempt to deliver a webhook, listed together with those of other requests. */
export const WebhookAttempt = Type.Object({
  request_id: Type.String(),
  endpoint_id: Nullable(
    Type.String({ description: 'The endpoint; `null` for the `webhookUrl` of the request.' }),
  ),
  host: Type.String({ description: 'Host of the receiver.' }),
  started_at: DateTime,
  duration_ms: Type.Integer({ minimum: 0 }),
  status_code: Nullable(
    Type.Integer({ description: 'Status of the answer; `null` if none came.' }),
  ),
  error: Nullable(Type.String({ description: 'Why it was not delivered; `null` if it was.' })),
})

export const WebhookAttemptList = listOf(WebhookAttempt, 'WebhookAttemptList')

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  schema: { type: 'string' },
  description,
})

const HEADERS = [
  header('webhook-id', 'The same on every attempt of one webhook.'),
  header('webhook-timestamp', 'Time of this attempt, in seconds since 1970.'),
  header(
    'webhook-signature',
    '`v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`. After ' +
      'the rotation of a secret two such, with a space between them.',
  ),
]

const RESPONSES = {
  '2XX': { description: 'Delivered.' },
  '410': { description: 'The receiver wants no more webhooks, so it is not retried.' },
  default: {
    description:
      'Retried later, after at least the time in a Retry-After header of up to a day. The last ' +
      'attempt starts at most 92 hours after the first.',
  },
}

const webhook = (operationId: string, summary: string, schema: object) => ({
  post: {
    operationId,
    summary,
    description:
      'Sent to `webhookUrl` and to the endpoints of the account according to Standard Webhooks ' +
      '1.0, in up to ten attempts.',
    tags: ['queue'],
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: RESPONSES,
  },
})

export const WEBHOOKS = {
  'audio.separate.completed': webhook(
    'onSeparationCompleted',
    'A request has completed',
    SeparationCompletedEvent,
  ),
  'audio.separate.failed': webhook(
    'onSeparationFailed',
    'A request has failed',
    SeparationFailedEvent,
  ),
  'audio.sounds.completed': webhook(
    'onSoundsCompleted',
    'A list of sounds has completed',
    SoundsCompletedEvent,
  ),
  'audio.sounds.failed': webhook(
    'onSoundsFailed',
    'A list of sounds has failed',
    SoundsFailedEvent,
  ),
}
