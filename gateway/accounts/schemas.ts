/**
 * JSON Schemas of accounts and keys, with the checks of request bodies, which the command-line
 * tools and the admin API share. All of this is an extension of the contract.
 */

import { Type, type Static, type TSchema } from 'typebox'
import { ID_CHARACTERS_MAX } from '../../shared/ids.ts'
import { PRIORITIES } from '../../shared/priority.ts'
import { SCOPES } from './auth.ts'
import { listOf } from '../api/list-schemas.ts'
import { DateTime, NO_NUL, Nullable } from '../api/schemas.ts'
import type { LimitName } from '../store/schema/tables.ts'
import { checkOf } from '../api/validation.ts'

const CREDIT_SECONDS_MAX = 1_000_000_000
const NAME_CHARACTERS_MAX = 200

const Name = Type.String({ pattern: NO_NUL, minLength: 1, maxLength: NAME_CHARACTERS_MAX })
const MaybeDateTime = Nullable(DateTime)
const Scopes = Type.Array(Type.Enum([...SCOPES]), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
})

const MOST = { minimum: 1, maximum: 1_000_000_000_000_000 }

/** The limits that an admin may set, and what each counts. */
const LIMITS = {
  calls_per_minute: 'Calls per minute of each key.',
  queued_requests: 'Waiting requests.',
  concurrent_jobs: 'Requests that engines have at once; further ones wait.',
  media_bytes: 'Bytes of files and outputs.',
  seconds_per_month: 'Seconds of completed requests in a calendar month, UTC.',
  streams: 'Status streams and waiting calls at one gateway.',
  file_bytes: 'Bytes of one uploaded file.',
} satisfies Record<LimitName, string>

const PRIORITY = 'The highest class of its requests, which is also their default.'
const KEY_PRIORITY = `${PRIORITY} Omit to use that of the account, which it cannot exceed.`

const limitsOfType = <T extends TSchema>(typeOf: (description: string) => T) =>
  Object.fromEntries(
    Object.entries(LIMITS).map(([name, description]) => [name, typeOf(description)]),
  ) as Record<LimitName, T>

/** All limits at once: the settings apply for those that it leaves out. */
export const LimitsRequest = Type.Object(
  {
    ...limitsOfType((description) => Type.Optional(Type.Integer({ ...MOST, description }))),
    priority: Type.Optional(Type.Enum([...PRIORITIES], { description: PRIORITY })),
  },
  { title: 'LimitsRequest', additionalProperties: false },
)

export const KeyLimitsRequest = Type.Object(
  {
    calls_per_minute: Type.Optional(
      Type.Integer({ ...MOST, description: 'Omit to use the limit of the account.' }),
    ),
    priority: Type.Optional(Type.Enum([...PRIORITIES], { description: KEY_PRIORITY })),
  },
  { title: 'KeyLimitsRequest', additionalProperties: false },
)

const OwnLimits = Type.Object(
  {
    ...limitsOfType((description) => Nullable(Type.Integer(), { description })),
    priority: Nullable(Type.Enum([...PRIORITIES]), { description: PRIORITY }),
  },
  { title: 'OwnLimits' },
)

const StandingLimits = Type.Object(
  limitsOfType((description) =>
    Type.Object(
      {
        max: Nullable(Type.Integer(), { description: '`null` means no limit.' }),
        used: Nullable(Type.Integer(), {
          description: 'How much is used now; `null` for a limit that applies to each key or file.',
        }),
      },
      { description },
    ),
  ),
  { title: 'StandingLimits' },
)

export const Account = Type.Object(
  {
    account_id: Type.String(),
    name: Type.String(),
    status: Type.Enum(['active', 'disabled', 'deleted']),
    metered: Type.Boolean({ description: 'Whether separations cost credits.' }),
    balance_seconds: Type.Integer({ description: 'In seconds of audio.' }),
    reserved_seconds: Type.Integer({ description: 'The part reserved for requests in progress.' }),
    media_bytes: Type.Integer({
      description: 'Size of the files and outputs that the account holds.',
    }),
    media_reserved_bytes: Type.Integer({
      description: 'Size reserved for the outputs of requests in progress.',
    }),
    media_bytes_max: Type.Optional(
      Type.Integer({ description: 'The limit for both together. Only in `GET /v1/account`.' }),
    ),
    priority: Type.Optional(
      Type.Enum([...PRIORITIES], {
        description:
          'The highest class of requests with this key, which is also their default. Only in ' +
          '`GET /v1/account`.',
      }),
    ),
    own_limits: Type.Optional(OwnLimits),
    limits: Type.Optional(StandingLimits),
  },
  { title: 'Account' },
)

export const UsageDay = Type.Object(
  {
    day: Type.String(),
    completed: Type.Integer({ description: 'Number of requests.' }),
    failed: Type.Integer({ description: 'Number of requests, including canceled ones.' }),
    audio_seconds: Type.Integer({
      description: 'Seconds of completed requests as charged, that is, once for each target.',
    }),
  },
  { title: 'UsageDay' },
)

export const Usage = Type.Object(
  {
    object: Type.Literal('list'),
    from: Type.String({ description: 'The first day, for example `2026-01-31`.' }),
    to: Type.String({ description: 'The last day.' }),
    data: Type.Array(UsageDay, { description: 'The days on which requests ended, oldest first.' }),
  },
  { title: 'Usage' },
)

export const AccountList = listOf(Account, 'AccountList')

export const CreateAccountRequest = Type.Object(
  { name: Name, metered: Type.Optional(Type.Boolean({ default: false })) },
  { title: 'CreateAccountRequest', additionalProperties: false },
)

export const CreditRequest = Type.Object(
  {
    seconds: Type.Integer({
      minimum: -CREDIT_SECONDS_MAX,
      maximum: CREDIT_SECONDS_MAX,
      description: 'Seconds of audio; a negative number takes them back.',
    }),
    reference: Type.Optional(
      Type.String({
        pattern: NO_NUL,
        minLength: 1,
        maxLength: NAME_CHARACTERS_MAX,
        description:
          'For example an invoice number. An account is credited once for each reference; the ' +
          'same reference with another amount is refused.',
      }),
    ),
  },
  { title: 'CreditRequest', additionalProperties: false },
)

const apiKeyFields = {
  key_id: Type.String(),
  account_id: Type.String(),
  name: Type.String(),
  scopes: Scopes,
  created_at: DateTime,
  expires_at: MaybeDateTime,
  revoked_at: MaybeDateTime,
  last_used_at: Nullable(DateTime, { description: 'Updated once a minute.' }),
  calls_per_minute: Nullable(Type.Integer(), {
    description: "The key's own limit; `null` to use that of its account.",
  }),
  priority: Nullable(Type.Enum([...PRIORITIES]), {
    description: `${PRIORITY} \`null\` to use that of its account.`,
  }),
}

export const ApiKey = Type.Object(apiKeyFields, { title: 'ApiKey' })

export const ApiKeyList = listOf(ApiKey, 'ApiKeyList')

export const OwnKeyList = Type.Object(
  {
    ...ApiKeyList.properties,
    current_key_id: Type.String({ description: 'The key of this call.' }),
  },
  { title: 'OwnKeyList' },
)

export const NewApiKey = Type.Object(
  {
    ...apiKeyFields,
    key: Type.String({
      description: 'The key itself, `sep_<key_id>_<secret>`. It is shown only once.',
    }),
  },
  { title: 'NewApiKey' },
)

const newKeyFields = {
  scopes: Scopes,
  name: Type.Optional(Name),
  expires: Type.Optional(
    Type.String({
      pattern: NO_NUL,
      minLength: 2,
      maxLength: 40,
      description: 'How long the key is valid: `30d`, `12h`, `1 year`.',
    }),
  ),
  priority: Type.Optional(Type.Enum([...PRIORITIES], { description: KEY_PRIORITY })),
}

export const CreateKeyRequest = Type.Object(
  {
    ...newKeyFields,
    account_id: Type.Optional(
      Type.String({ pattern: NO_NUL, maxLength: ID_CHARACTERS_MAX, default: 'default' }),
    ),
  },
  { title: 'CreateKeyRequest', additionalProperties: false },
)

export const CreateOwnKeyRequest = Type.Object(newKeyFields, {
  title: 'CreateOwnKeyRequest',
  additionalProperties: false,
})

export type Account = Static<typeof Account>
export type ApiKey = Static<typeof ApiKey>
export type NewApiKey = Static<typeof NewApiKey>

export const checkCreateAccount = checkOf(CreateAccountRequest)
export const checkLimits = checkOf(LimitsRequest)
export const checkKeyLimits = checkOf(KeyLimitsRequest)
export const checkCredit = checkOf(CreditRequest)
export const checkCreateKey = checkOf(CreateKeyRequest)
export const checkCreateOwnKey = checkOf(CreateOwnKeyRequest)
