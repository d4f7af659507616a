/** JSON Schemas of the API for what a model found out about prompts. */

import { Type, type Static } from 'typebox'
import { Finding as StoredFinding, Recognition } from '../../shared/finding.ts'

export const SEVERAL = 'An extension: of a completed request with `prompts`, in their order.'

/** How a prompt was understood, and which model made its target. */
export const TargetRecognition = Type.Object({
  ...Recognition.properties,
  separator: Type.Optional(
    Type.String({
      description: 'An extension: the name of the model that made the target, as in `separators`.',
    }),
  ),
})
export type TargetRecognition = Static<typeof TargetRecognition>

export const PromptFinding = Type.Object(
  { prompt: Type.String(), ...TargetRecognition.properties },
  { title: 'PromptFinding' },
)

const Finding = Type.Object(
  {
    prompt: Type.String(),
    ...Type.Omit(StoredFinding, ['model']).properties,
    separator: TargetRecognition.properties.separator,
    state: Type.Required(Type.Pick(StoredFinding, ['state'])).properties.state,
    message: Type.String({ description: 'The same in a sentence or two, for people.' }),
  },
  { title: 'Finding' },
)

export const Findings = Type.Optional(
  Type.Array(Finding, {
    description:
      'An extension: what was found out about each prompt of a completed request, in order. ' +
      'Absent if the model reports nothing.',
  }),
)
