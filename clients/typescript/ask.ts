/** Sends a request with its media, in one call if the media is short enough. */

import type { components } from './api.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { formOf, ONE_CALL_BYTES_MAX } from './one-call.ts'
import type { Transport } from './transport.ts'

type Schemas = components['schemas']
type Separation = Schemas['SubmitAudioSeparateRequest']
type Sounds = Schemas['SubmitAudioSoundsRequest']

/** Media with a name and a content type. */
export interface NamedBlob {
  name: string
  contentType: string
  bytes: Blob
}

/** Receives the share of the media that is sent, from 0 to 1. */
export type OnProgress = (part: number) => void

interface Sender {
  transport: Transport
  /** Uploads the media and resolves with the id of its file. */
  uploadBlob(media: NamedBlob, onProgress?: OnProgress): Promise<string>
}

interface Question {
  /** The last part of the API's paths. */
  kind: 'separate' | 'sounds'
  /** The submission, without its media. */
  submission: Separation | Sounds
  idempotencyKey?: string | undefined
  headers?: object | undefined
  onProgress?: OnProgress | undefined
}

/** @returns the response of a submit, or the result if the headers ask to wait for it */
export async function ask<Answer>(
  { transport, uploadBlob }: Sender,
  media: NamedBlob,
  { kind, submission, idempotencyKey = newIdempotencyKey(), headers, onProgress }: Question,
): Promise<Answer> {
  const keyed = { 'idempotency-key': idempotencyKey }
  if (media.bytes.size <= ONE_CALL_BYTES_MAX) {
    return transport.json('POST', `/v1/audio/${kind}`, {
      form: formOf(media, submission),
      bytes: media.bytes.size,
      headers: { ...keyed, ...headers },
    })
  }
  const file_id = await uploadBlob(media, onProgress)
  return transport.json('POST', `/v1/queue/audio/${kind}`, {
    body: { ...submission, input: { ...submission.input, file_id } },
    headers: keyed,
  })
}

/** Returns the input fields for one or several prompts. */
export const promptsOf = (
  prompt: string | readonly string[],
): Pick<Separation['input'], 'prompt' | 'prompts'> =>
  typeof prompt === 'string'
    ? { prompt }
    : prompt.length === 1
      ? { prompt: prompt[0]! }
      : { prompts: [...prompt] }
