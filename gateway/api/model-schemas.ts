/** The models and engines that there are, as JSON Schemas of the API. */

import { Type, type Static } from 'typebox'

/** Names of one model: more are left out. */
export const NAMES_MAX = 200

const Engine = Type.Object(
  {
    engine_id: Type.String({ description: 'The same at each call; not the name in logs.' }),
    version: Type.String(),
    device: Type.String({ description: '`cpu` or `gpu`.' }),
    model: Type.Object({
      name: Type.String(),
      summary: Type.String(),
      parameters: Type.Integer(),
      weights_sha256: Type.String(),
      sample_rate: Type.Integer({ description: 'Hertz; 0: any.' }),
      channels_max: Type.Integer({ description: 'More are mixed down.' }),
      gives_candidates: Type.Boolean({
        description: 'Whether `reranking_candidates` makes several.',
      }),
      predicts_spans: Type.Boolean({ description: 'Whether `predict_spans` does anything.' }),
      precision: Type.String({ description: 'Of its products: `float32` or `bfloat16`.' }),
    }),
  },
  { title: 'Engine', description: 'An engine that serves the model now, and its model for text.' },
)

const Separator = Type.Object(
  {
    name: Type.String({ description: 'For `input.separator`.' }),
    summary: Type.String(),
    answers: Type.Enum(['text', 'stems'], {
      description: '`text`: any prompt; `stems`: prompts that name some of `stems`.',
    }),
    stems: Type.Array(Type.String(), { description: 'Of a model that answers text: none.' }),
    names: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: NAMES_MAX,
        description:
          'Of the sounds that a model for text knows, to choose from; it goes by meaning, and ' +
          'may know others. Absent: it has no such list.',
      }),
    ),
    licence: Type.Optional(
      Type.String({ description: 'What is known of the licence of its weights.' }),
    ),
    engine_ids: Type.Array(Type.String(), { description: 'The engines that hold it now.' }),
  },
  { title: 'Separator', description: 'A network that engines hold.' },
)

const Model = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    description: Type.String(),
    input: Type.Object({}, { description: 'JSON Schema of `input` at submit.' }),
    output: Type.Object({}, { description: 'JSON Schema of `data` of a result.' }),
    engines: Type.Optional(Type.Array(Engine)),
    separators: Type.Optional(
      Type.Array(Separator, {
        description: 'An extension: the networks behind the model, in order of preference.',
      }),
    ),
  },
  { title: 'Model' },
)

export const ModelList = Type.Object(
  { object: Type.Literal('list'), data: Type.Array(Model) },
  { title: 'ModelList' },
)

export type ModelList = Static<typeof ModelList>
