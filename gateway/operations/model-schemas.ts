/**
 * JSON Schemas of the models of engines, for admins. All of this is an extension of the contract.
 */

import { Type, type Static } from 'typebox'
import { listOf } from '../api/list-schemas.ts'
import { checkOf } from '../api/validation.ts'
import { Count, NO_NUL, Nullable } from '../api/schemas.ts'

const MaybeCount = (description: string) => Nullable(Count, { description })
const MaybeText = (description: string) => Nullable(Type.String(), { description })

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
    bytes: MaybeCount('Bytes downloaded; `null` if it is not being fetched.'),
    bytes_total: MaybeCount('Bytes to download, if known.'),
    problem: MaybeText('A sentence on why it is not fetched or loaded, or what it waits for.'),
  },
  { title: 'EngineModel' },
)

export const AdminModel = Type.Object(
  {
    name: Type.String(),
    summary: MaybeText('One sentence.'),
    built_in: Type.Boolean({ description: 'It came with Winnow and cannot be removed.' }),
    megabytes: MaybeCount('Size of the download.'),
    licence_word: MaybeText('The licence of its weights, in a word or two.'),
    licence: Type.String({ description: 'The licence in sentences, as far as it is known.' }),
    licence_url: MaybeText('The page that states the licence.'),
    licence_question: Type.Boolean({
      description: 'Whether the licence must be accepted to fetch it.',
    }),
    source: MaybeText('The address of its first file.'),
    engines: Type.Array(EngineModel, { description: 'Its state on each engine.' }),
  },
  { title: 'AdminModel' },
)

export const AdminModelList = listOf(AdminModel, 'AdminModelList')

const engineId = Type.Optional(
  Type.String({
    pattern: NO_NUL,
    minLength: 1,
    maxLength: 128,
    description: 'All engines by default.',
  }),
)

export const ChangeModelRequest = Type.Object(
  { engine_id: engineId },
  { title: 'ChangeModelRequest', additionalProperties: false },
)

export const DrainedEngine = Type.Object(
  { engine_id: Type.String(), state: Type.Literal('DRAINING') },
  { title: 'DrainedEngine' },
)

export const FetchModelRequest = Type.Object(
  {
    engine_id: engineId,
    licence_accepted: Type.Optional(
      Type.Boolean({ default: false, description: 'Required if `licence_question` is true.' }),
    ),
  },
  { title: 'FetchModelRequest', additionalProperties: false },
)

export type AdminModel = Static<typeof AdminModel>
export type DrainedEngine = Static<typeof DrainedEngine>
export type EngineModel = Static<typeof EngineModel>
export type ChangeModelRequest = Static<typeof ChangeModelRequest>
export type FetchModelRequest = Static<typeof FetchModelRequest>

const changeModel = checkOf(ChangeModelRequest)
const fetchModel = checkOf(FetchModelRequest)

/** @throws ServiceError that names what is wrong with a body, which may be absent */
export const checkChangeModel = (body: unknown = {}): ChangeModelRequest => changeModel(body)

/** @throws ServiceError that names what is wrong with a body, which may be absent */
export const checkFetchModel = (body: unknown = {}): FetchModelRequest => fetchModel(body)
