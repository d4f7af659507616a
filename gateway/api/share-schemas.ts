/**
 * JSON Schemas of shares, and the check of their request bodies. All of this is an extension of the
 * contract.
 */

import { Type, type Static } from 'typebox'
import { DAY_SECONDS } from '../../shared/durations.ts'
import { listOf } from './list-schemas.ts'
import { SeparationData } from './result-schemas.ts'
import { DateTime } from './schemas.ts'
import { checkOf } from './validation.ts'

export const SHARE_SECONDS = { min: 60, max: 7 * DAY_SECONDS, default: DAY_SECONDS } as const

export const CreateShareRequest = Type.Object(
  {
    expires_in: Type.Optional(
      Type.Integer({
        minimum: SHARE_SECONDS.min,
        maximum: SHARE_SECONDS.max,
        default: SHARE_SECONDS.default,
        description: 'In seconds. The share ends earlier if the outputs are deleted earlier.',
      }),
    ),
  },
  { title: 'CreateShareRequest', additionalProperties: false },
)

const fields = {
  share_id: Type.String(),
  request_id: Type.String(),
  created_at: DateTime,
  expires_at: DateTime,
}

export const Share = Type.Object(fields, { title: 'Share' })

export const NewShare = Type.Object(
  {
    ...fields,
    url: Type.String({
      format: 'uri',
      description:
        'Plays the result in a browser. The fragment is the secret and is shown only once.',
    }),
  },
  { title: 'NewShare' },
)

export const ShareList = listOf(Share, 'ShareList')

export const SharedResult = Type.Object(
  {
    file_name: Type.String({ description: 'Name of the source.' }),
    prompts: Type.Array(Type.String()),
    data: SeparationData,
    peaks_url: Type.Optional(
      Type.String({ format: 'uri', description: 'The peaks as JSON, if the engine stored them.' }),
    ),
    expires_at: Type.String({
      format: 'date-time',
      description:
        'When the share ends. The media addresses expire earlier; read the result again to renew ' +
        'them.',
    }),
  },
  { title: 'SharedResult' },
)

export type Share = Static<typeof Share>
export type NewShare = Static<typeof NewShare>
export type SharedResult = Static<typeof SharedResult>

/** @throws ServiceError that names the first mistake in the body */
export const checkCreateShare = checkOf(CreateShareRequest)
