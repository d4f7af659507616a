/** What a model found out about prompts, as JSON Schemas of the API. */

import { Type } from 'typebox'
import { Finding as StoredFinding, Recognition } from '../../shared/messages.ts'

export const SEVERAL = 'An extension: of a completed request with `prompts`, in their order.'

export const PromptFinding = Type.Object(
  { prompt: Type.String(), ...Recognition.properties },
  { title: 'PromptFinding' },
)

const Finding = Type.Object(
  {
    prompt: Type.String(),
    ...Type.Omit(StoredFinding, ['model']).properties,
    state: Type.Required(Type.Pick(StoredFinding, ['state'])).properties.state,
    message: Type.String({ description: 'The same as a sentence or two, for people.' }),
  },
  { title: 'Finding' },
)

export const Findings = Type.Optional(
  Type.Array(Finding, {
    description:
      'An extension: what the model found out about each prompt of a completed request, in their ' +
      'order. Absent where the model tells nothing.',
  }),
)
