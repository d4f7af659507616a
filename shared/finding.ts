/** What a model found out about a prompt. */

import { Type, type Static } from 'typebox'
import { HEARD_SPANS_MAX, HeardSound } from './heard-sounds.ts'
import { Text } from './short-text.ts'

/** How certain the model is about a prompt; absent for models that do not say. */
const recognitionFields = {
  match: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'An extension: how probable it is that the sound is in the media, if half of those are ' +
        'that are asked for; calibrated on mixtures of two sounds.',
    }),
  ),
  understood_as: Type.Optional(
    Type.Union([Text, Type.Null()], {
      description: "An extension: the model's nearest name for the prompt; null: none is near.",
    }),
  ),
}

export const Recognition = Type.Object(recognitionFields)

/** How many sounds a prompt has at most, because it has no more words. */
export const ASKED_MAX = 256

/** How many names to suggest for an unknown prompt at most. */
export const NEAREST_MAX = 8

const STATES = ['found', 'similar', 'unsure', 'absent', 'unknown'] as const

const QUALITIES = ['good', 'fair', 'poor'] as const

/** A model's finding about a prompt; empty if the model reports none. */
export const Finding = Type.Object({
  ...recognitionFields,
  /** The name of the model that made the target. Absent in events of 0.2.0. */
  model: Type.Optional(Text),
  state: Type.Optional(
    Type.Enum([...STATES], {
      description:
        '`found`: it is there; `similar`: what is there sounds like it (`similar_to`); `unsure`; ' +
        '`absent`: it was not heard. In all but the first the target holds what comes nearest, ' +
        'and may be softer. `unknown`: the model does not know the prompt, and the target holds ' +
        'something else. Of several sounds the least sure one decides, in the order unknown, ' +
        'absent, similar, unsure, found.',
    }),
  ),
  /** This and the next two are absent in events of 0.4.0. */
  similar_to: Type.Optional({
    ...Text,
    description: 'An extension: of a `similar` sound, what was heard instead.',
  }),
  where: Type.Optional({
    ...HeardSound.properties.spans,
    description:
      'An extension: where a `found` sound is; of several, where any of those is that are ' +
      `wanted. Of more than ${HEARD_SPANS_MAX} spans, neighbours are joined.`,
  }),
  share: Type.Optional({
    ...HeardSound.properties.share,
    description: 'An extension: the part of the media in which a `found` sound is.',
  }),
  /** Absent in events of 0.4.0. */
  quality: Type.Optional(
    Type.Enum([...QUALITIES], {
      description:
        'An extension: how well the target is likely to be separated, whether or not its sound ' +
        'is there: `good` is meant as an SI-SDR from 10 dB on, `poor` as one under 3 dB. An ' +
        'estimate by the built-in model; absent where there is none.',
    }),
  ),
  /** How the prompt was read. Absent in events of 0.4.0. */
  asked: Type.Optional(
    Type.Array(
      Type.Object({
        sound: { ...Text, description: 'In English, if the service knows it; else as typed.' },
        excluded: Type.Boolean({ description: 'True if it is to be taken away.' }),
        state: Type.Optional(Type.Enum([...STATES])),
        similar_to: Type.Optional(Text),
      }),
      { maxItems: ASKED_MAX, description: 'An extension: the sounds that the prompt was read as.' },
    ),
  ),
  same_as: Type.Optional({
    ...Text,
    description:
      'An extension: an earlier prompt that is read as the same sound. Both have one output, ' +
      'which the residual lacks once.',
  }),
  softened_db: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'Unless `found`: by how many dB the target is softer than what was found.',
    }),
  ),
  holds: Type.Optional({ ...Text, description: 'Of an `unknown` prompt: what the target holds.' }),
  nearest: Type.Optional(
    Type.Array(Text, {
      maxItems: NEAREST_MAX,
      description: "Of an `unknown` prompt: the model's nearest names, to try.",
    }),
  ),
})

export type Recognition = Static<typeof Recognition>
export type Finding = Static<typeof Finding>
export type Quality = (typeof QUALITIES)[number]
