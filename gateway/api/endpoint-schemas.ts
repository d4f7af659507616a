/**
 * JSON Schemas of webhook endpoints, and the checks of their request bodies. All of this is an
 * extension of the contract.
 */

import { Type, type Static } from 'typebox'
import { DAY_SECONDS } from '../../shared/durations.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import { listOf, pagedListOf } from './list-schemas.ts'
import { DateTime, NO_NUL, Nullable, WebhookDeliveryStatus } from './schemas.ts'
import { checkOf } from './validation.ts'
import { EVENT_TYPES } from './webhook-schemas.ts'

const DESCRIPTION_CHARACTERS_MAX = 200
/** How long the old secret signs, too, after a rotation. */
export const OVERLAP_SECONDS = { max: 7 * DAY_SECONDS, default: DAY_SECONDS } as const
/** How many deliveries one replay restarts. */
export const REPLAY_MAX = 10_000

const Url = Type.String({
  format: 'uri',
  maxLength: LIMITS.webhookUrlCharactersMax,
  description: 'A public HTTPS URL.',
})
const eventsOf = (description: string) =>
  Type.Array(Type.Enum([...EVENT_TYPES]), {
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description,
  })
const Events = eventsOf('The types of events that it receives.')
const Description = Type.String({ pattern: NO_NUL, maxLength: DESCRIPTION_CHARACTERS_MAX })

export const CreateEndpointRequest = Type.Object(
  {
    url: Url,
    events: Type.Optional(eventsOf('The types of events that it receives. Default: all.')),
    description: Type.Optional(Description),
  },
  { title: 'CreateEndpointRequest', additionalProperties: false },
)

export const ChangeEndpointRequest = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    enabled: Type.Optional(
      Type.Boolean({
        description:
          'A disabled endpoint gets nothing, and what waits for it has failed. It can be replayed.',
      }),
    ),
  },
  { title: 'ChangeEndpointRequest', additionalProperties: false },
)

export const RotateEndpointRequest = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: OVERLAP_SECONDS.max,
        default: OVERLAP_SECONDS.default,
        description: 'How long the old secret signs, too; 0 if it has leaked.',
      }),
    ),
  },
  { title: 'RotateEndpointRequest', additionalProperties: false },
)

export const ReplayRequest = Type.Object(
  {
    since: Type.String({
      maxLength: 40,
      description: 'Events from this time on, such as `2026-01-31T12:00:00Z`.',
    }),
    until: Type.Optional(
      Type.String({ maxLength: 40, description: 'Events before this time. Default: now.' }),
    ),
    only_failed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only those that were not delivered: failed, or waiting for a retry.',
      }),
    ),
  },
  { title: 'ReplayRequest', additionalProperties: false },
)

const endpointFields = {
  endpoint_id: Type.String(),
  url: Url,
  events: Events,
  description: Description,
  enabled: Type.Boolean(),
  disabled_at: Nullable(DateTime),
  disabled_reason: Nullable(
    Type.String({
      description: 'Why the service has disabled it; `null` if you did, or if it is enabled.',
    }),
  ),
  failing_since: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When the first attempt failed since the last success; `null` if none has.',
    }),
  ),
  old_secret_ends_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'Until then the secret before the last rotation signs, too.',
    }),
  ),
  created_at: DateTime,
}

export const WebhookEndpoint = Type.Object(endpointFields, { title: 'WebhookEndpoint' })

export const WebhookEndpointList = listOf(WebhookEndpoint, 'WebhookEndpointList')

export const NewWebhookEndpoint = Type.Object(
  {
    ...endpointFields,
    signing_secret: Type.String({
      description: 'The secret that signs, `whsec_…`. It is shown only once.',
    }),
  },
  { title: 'NewWebhookEndpoint' },
)

const EndpointDelivery = Type.Object({
  webhook_id: Type.String({ description: 'The value of the header `webhook-id`.' }),
  request_id: Type.String(),
  type: Type.Enum([...EVENT_TYPES]),
  created_at: DateTime,
  ...WebhookDeliveryStatus.properties,
  next_attempt_at: Nullable(DateTime),
})

export const EndpointDeliveryList = pagedListOf(EndpointDelivery, 'EndpointDeliveryList')

export const Replay = Type.Object(
  {
    replayed: Type.Integer({ minimum: 0, maximum: REPLAY_MAX, description: 'Deliveries.' }),
    next_since: Nullable(
      Type.String({
        format: 'date-time',
        description: '`since` of a call that replays the rest; `null` if there is none.',
      }),
    ),
  },
  { title: 'Replay' },
)

export type WebhookEndpoint = Static<typeof WebhookEndpoint>
export type NewWebhookEndpoint = Static<typeof NewWebhookEndpoint>
export type EndpointDelivery = Static<typeof EndpointDelivery>
export type Replay = Static<typeof Replay>

export const checkCreateEndpoint = checkOf(CreateEndpointRequest)
export const checkChangeEndpoint = checkOf(ChangeEndpointRequest)
export const checkRotateEndpoint = checkOf(RotateEndpointRequest)
export const checkReplay = checkOf(ReplayRequest)
