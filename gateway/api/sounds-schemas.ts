/** JSON Schemas of requests that list the sounds of media. */

import { Type, type Static } from 'typebox'
import { HeardSounds } from '../../shared/heard-sounds.ts'
import { QueueResultResponse } from './result-schemas.ts'
import { AudioSeparateInput, SOUNDS_MODEL, SubmitAudioSeparateRequest } from './schemas.ts'

const { audio_url, file_id, request_id, output, output_index, audio_track } =
  AudioSeparateInput.properties

export const AudioSoundsInput = Type.Object(
  { audio_url, file_id, request_id, output, output_index, audio_track },
  { title: 'AudioSoundsInput', additionalProperties: false },
)

export const SubmitAudioSoundsRequest = Type.Object(
  { ...SubmitAudioSeparateRequest.properties, input: AudioSoundsInput },
  { title: 'SubmitAudioSoundsRequest' },
)

export const SoundsData = Type.Object(
  { sounds: HeardSounds, duration: Type.Number({ description: 'In seconds.' }) },
  { title: 'SoundsData' },
)

export const SoundsResultResponse = Type.Object(
  { ...QueueResultResponse.properties, model: Type.Literal(SOUNDS_MODEL), data: SoundsData },
  { title: 'SoundsResultResponse' },
)

/** The result of a request of either kind. */
export const AnyResultResponse = Type.Union([QueueResultResponse, SoundsResultResponse], {
  description: 'Depends on `model`: a separation, or a list of sounds.',
})

export type SoundsData = Static<typeof SoundsData>
export type SoundsResultResponse = Static<typeof SoundsResultResponse>
export type AnyResultResponse = Static<typeof AnyResultResponse>
