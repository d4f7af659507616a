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
        'An extension: the probability that the sound is in the media, assuming that half of the ' +
        'requested sounds are; calibrated on mixtures of two sounds.',
    }),
  ),
  understood_as: Type.Optional(
    Type.Union([Text, Type.Null()], {
      description:
        'An extension: the name known to the model that is nearest to the prompt; `null` if none ' +
        'is near.',
    }),
  ),
}

export const Recognition = Type.Object(recognitionFields)

/** How many sounds a prompt has at most, because it has no more words. */
const ASKED_MAX = 256

/** How many names to suggest for an unknown prompt at most. */
export const NEAREST_MAX = 8

const STATES = ['found', 'similar', 'unsure', 'absent', 'unknown'] as const

const QUALITIES = ['good', 'fair', 'poor'] as const

/** A model's finding about a prompt; empty if the model reports none. */
export const Finding = Type.Object({
  ...recognitionFields,
  /** The name of the model that made the target. Absent in outputs that 0.2.0 stored. */
  model: Type.Optional(Text),
  state: Type.Optional(
    Type.Enum([...STATES], {
      description:
        '`found`: the sound is there; `similar`: a similar sound is there (`similar_to`); ' +
        '`unsure`; `absent`: it was not heard. Except for `found`, the target contains the ' +
        'closest match and may be softer. `unknown`: the model does not know the prompt, and the ' +
        'target contains something else. Of several sounds the least certain one decides, in the ' +
        'order unknown, absent, similar, unsure, found.',
    }),
  ),
  /** This and the next two are absent in events of 0.4.0. */
  similar_to: Type.Optional({
    ...Text,
    description: 'An extension: for a `similar` sound, what was heard instead.',
  }),
  where: Type.Optional({
    ...HeardSound.properties.spans,
    description:
      `An extension: where a \`found\` sound is; for several sounds, where any wanted one is. If ` +
      `there are more than ${HEARD_SPANS_MAX} spans, neighbouring ones are merged.`,
  }),
  share: Type.Optional({
    ...HeardSound.properties.share,
    description: 'An extension: the share of the media that contains a `found` sound.',
  }),
  /** Absent in events of 0.4.0. */
  quality: Type.Optional(
    Type.Enum([...QUALITIES], {
      description:
        'An extension: how well the target is probably separated, whether or not the sound is ' +
        'there. `good` means an SI-SDR of at least 10 dB, `poor` one below 3 dB. An estimate by ' +
        'the built-in model; absent if there is none.',
    }),
  ),
  /** How the prompt was read. Absent in events of 0.4.0. */
  asked: Type.Optional(
    Type.Array(
      Type.Object({
        sound: {
          ...Text,
          description: 'In English if the service knows the sound; otherwise as typed.',
        },
        excluded: Type.Boolean({ description: 'Whether it is to be removed.' }),
        state: Type.Optional(Type.Enum([...STATES])),
        similar_to: Type.Optional(Text),
      }),
      {
        maxItems: ASKED_MAX,
        description: 'An extension: the sounds that the prompt was understood to mean.',
      },
    ),
  ),
  same_as: Type.Optional({
    ...Text,
    description:
      'An extension: an earlier prompt with the same meaning. Both share one output, which is ' +
      'missing from the residual once.',
  }),
  softened_db: Type.Optional(
    Type.Number({
      minimum: 0,
      description: 'Unless `found`: by how many dB the target is softer than what was separated.',
    }),
  ),
  holds: Type.Optional({
    ...Text,
    description: 'For an `unknown` prompt: what the target contains.',
  }),
  nearest: Type.Optional(
    Type.Array(Text, {
      maxItems: NEAREST_MAX,
      description: 'For an `unknown` prompt: the nearest names known to the model, to try instead.',
    }),
  ),
})

export type Recognition = Static<typeof Recognition>
export type Finding = Static<typeof Finding>
export type Quality = (typeof QUALITIES)[number]
