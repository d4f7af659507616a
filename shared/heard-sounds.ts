/** What is in media: the list that an engine reports and the API returns. */

import { Type, type Static } from 'typebox'
import { MEASURED_SECONDS_MAX } from './media-limits.ts'

export const HEARD_SOUNDS_MAX = 32
export const HEARD_SPANS_MAX = 100
const NAME_CHARACTERS_MAX = 200

const Seconds = Type.Number({
  minimum: 0,
  maximum: MEASURED_SECONDS_MAX,
  description: 'Seconds from the start of the media.',
})

/** A sound in the media, with where it is and how certain that is. */
export const HeardSound = Type.Object(
  {
    name: Type.String({
      maxLength: NAME_CHARACTERS_MAX,
      description: 'Use it as a prompt to separate the sound.',
    }),
    spans: Type.Array(Type.Object({ start: Seconds, end: Seconds }), {
      maxItems: HEARD_SPANS_MAX,
      description: 'Where it is heard, in order.',
    }),
    share: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The share of the media in which it is heard.',
    }),
    match: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The probability that the sound is in the media.',
    }),
  },
  { title: 'HeardSound' },
)
export type HeardSound = Static<typeof HeardSound>

/** The most prominent sound comes first. */
export const HeardSounds = Type.Array(HeardSound, { maxItems: HEARD_SOUNDS_MAX })
