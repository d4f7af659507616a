/** The result of a completed separation. */

import { Type, type Static } from 'typebox'
import { HeardSounds } from '../../shared/heard-sounds.ts'
import { gainField } from '../../shared/messages.ts'
import { Findings, PromptFinding, TargetRecognition, SEVERAL } from './finding-schemas.ts'
import { DateTime, Metadata, MODEL_ID, Uri, WebhookDeliveryStatus } from './schemas.ts'

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
      Type.Array(PromptTarget, { description: `${SEVERAL} \`target\` is the first one.` }),
    ),
    residual: OutputFile,
    duration: Type.Optional(Type.Number({ description: 'In seconds.' })),
    sample_rate: Type.Integer({ description: 'In hertz.' }),
    preview_url: Type.Optional(
      Type.String({
        format: 'uri',
        description:
          'An extension: the mixture and the outputs as Opus, in segments that are indexed in ' +
          'the peaks. Only if `preview` was requested and could be made.',
      }),
    ),
    ...gainField,
    ...TargetRecognition.properties,
    findings: Findings,
    sounds: Type.Optional({
      ...HeardSounds,
      description: 'An extension: all sounds heard in the media, the most prominent first.',
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

export type OutputFile = Static<typeof OutputFile>
export type SeparationData = Static<typeof SeparationData>
export type QueueResultResponse = Static<typeof QueueResultResponse>
