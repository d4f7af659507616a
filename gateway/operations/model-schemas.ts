/**
 * JSON Schemas of the models of engines, for admins. All of this is an extension of the contract.
 */

import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkBody } from '../api/validation.ts'
import { NO_NUL } from '../api/schemas.ts'

const Count = Type.Integer({ minimum: 0 })
const MaybeCount = (description: string) => Type.Union([Count, Type.Null()], { description })
const MaybeText = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const EngineModel = Type.Object(
  {
    engine_id: Type.String(),
    state: Type.Enum([
      'FETCHABLE',
      'WAITING',
      'DOWNLOADING',
      'CONVERTING',
      'NOT_LOADED',
      'LOADING',
      'LOADED',
      'UNLOADING',
    ]),
    bytes: MaybeCount('Downloaded; null: it is not being fetched.'),
    bytes_total: MaybeCount('To download, as far as it is known.'),
    problem: MaybeText('Why it is not fetched or loaded, or whom it waits for, in a sentence.'),
  },
  { title: 'EngineModel' },
)

export const AdminModel = Type.Object(
  {
    name: Type.String(),
    summary: MaybeText('One sentence.'),
    built_in: Type.Boolean({ description: 'It came with Winnow, and stays.' }),
    megabytes: MaybeCount('To download.'),
    licence_word: MaybeText('The licence of its weights in a word or two.'),
    licence: Type.String({ description: 'That in sentences, as far as it is known.' }),
    licence_url: MaybeText('The page that states it.'),
    licence_question: Type.Boolean({ description: 'Whether who fetches it must accept that.' }),
    source: MaybeText('Address of its first file.'),
    engines: Type.Array(EngineModel, { description: 'How it is on each.' }),
  },
  { title: 'AdminModel' },
)

export const AdminModelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(AdminModel) },
  { title: 'AdminModelList' },
)

const engineId = Type.Optional(
  Type.String({
    pattern: NO_NUL,
    minLength: 1,
    maxLength: 128,
    description: 'Without it, all engines.',
  }),
)

export const ChangeModelRequest = Type.Object(
  { engine_id: engineId },
  { title: 'ChangeModelRequest', additionalProperties: false },
)

export const FetchModelRequest = Type.Object(
  {
    engine_id: engineId,
    licence_accepted: Type.Optional(
      Type.Boolean({ default: false, description: 'Needed where there is a `licence_question`.' }),
    ),
  },
  { title: 'FetchModelRequest', additionalProperties: false },
)

export type AdminModel = Static<typeof AdminModel>
export type EngineModel = Static<typeof EngineModel>
export type ChangeModelRequest = Static<typeof ChangeModelRequest>
export type FetchModelRequest = Static<typeof FetchModelRequest>

const changeModelRequest = Compile(ChangeModelRequest)
const fetchModelRequest = Compile(FetchModelRequest)

/** @throws ServiceError that names what is wrong with a body, which may be absent */
export const checkChangeModel = (body: unknown = {}): ChangeModelRequest =>
  checkBody(changeModelRequest, body) as ChangeModelRequest

/** @throws ServiceError that names what is wrong with a body, which may be absent */
export const checkFetchModel = (body: unknown = {}): FetchModelRequest =>
  checkBody(fetchModelRequest, body) as FetchModelRequest
