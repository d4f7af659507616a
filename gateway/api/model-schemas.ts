/** JSON Schemas of the models and engines. */

import { Type, type Static } from 'typebox'
import { listOf } from './list-schemas.ts'

/** At most this many names of a model are listed. */
export const NAMES_MAX = 200

const Engine = Type.Object(
  {
    engine_id: Type.String({ description: 'The same in every call, but not the name in logs.' }),
    version: Type.String(),
    device: Type.String({ description: '`cpu` or `gpu`.' }),
    model: Type.Object({
      name: Type.String(),
      summary: Type.String(),
      parameters: Type.Integer(),
      weights_sha256: Type.String(),
      sample_rate: Type.Integer({ description: 'In hertz; 0 if any rate is supported.' }),
      channels_max: Type.Integer({ description: 'Media with more channels is downmixed.' }),
      gives_candidates: Type.Boolean({
        description: 'Whether `reranking_candidates` makes several.',
      }),
      predicts_spans: Type.Boolean({ description: 'Whether `predict_spans` has an effect.' }),
      precision: Type.String({
        description: 'Precision of the matrix products: `float32` or `bfloat16`.',
      }),
    }),
  },
  { title: 'Engine', description: 'An engine that serves the model now, with its model for text.' },
)

const Separator = Type.Object(
  {
    name: Type.String({ description: 'The value for `input.separator`.' }),
    summary: Type.String(),
    answers: Type.Enum(['text', 'stems'], {
      description: '`text` takes any prompt; `stems` takes prompts that name some of `stems`.',
    }),
    stems: Type.Array(Type.String(), { description: 'Empty for a model that takes text.' }),
    names: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: NAMES_MAX,
        description:
          'Sounds that a model for text knows, to choose from. It goes by meaning and may ' +
          'understand others. Absent if it has no such list.',
      }),
    ),
    licence: Type.Optional(
      Type.String({ description: 'What is known about the licence of its weights.' }),
    ),
    engine_ids: Type.Array(Type.String(), {
      description: 'The engines that have the model loaded.',
    }),
  },
  { title: 'Separator', description: 'A model that engines have loaded.' },
)

const Model = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    description: Type.String(),
    input: Type.Object({}, { description: 'JSON Schema of `input` in a submit.' }),
    output: Type.Object({}, { description: 'JSON Schema of `data` in a result.' }),
    media_seconds_max: Type.Optional(
      Type.Integer({ description: 'An extension: the longest media that it takes, in seconds.' }),
    ),
    engines: Type.Optional(Type.Array(Engine)),
    separators: Type.Optional(
      Type.Array(Separator, {
        description: 'An extension: the models to choose from, in order of preference.',
      }),
    ),
  },
  { title: 'Model' },
)

export const ModelList = listOf(Model, 'ModelList')

export type ModelList = Static<typeof ModelList>
