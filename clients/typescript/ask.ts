/** Sends media with what is asked of it: in one call where it is short enough. */

import type { components } from './api.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { formOf, ONE_CALL_BYTES_MAX } from './one-call.ts'
import type { Transport } from './transport.ts'

type Schemas = components['schemas']
type Separation = Schemas['SubmitAudioSeparateRequest']
type Sounds = Schemas['SubmitAudioSoundsRequest']

/** Media with the name and type that the service is to know it by. */
export interface NamedBlob {
  name: string
  contentType: string
  bytes: Blob
}

/** Gets the part of media that is sent, from 0 to 1. */
export type OnProgress = (part: number) => void

interface Sender {
  transport: Transport
  /** Resolves with the id of a file that holds the media. */
  uploadBlob(media: NamedBlob, onProgress?: OnProgress): Promise<string>
}

interface Question {
  /** As the last part of the addresses has it. */
  kind: 'separate' | 'sounds'
  /** Without its media. */
  submission: Separation | Sounds
  idempotencyKey?: string | undefined
  headers?: object | undefined
  onProgress?: OnProgress | undefined
}

/** @returns the answer to a submit, or the result where the headers ask to wait for it */
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

/** The prompts as a submit takes them. */
export const promptsOf = (
  prompt: string | readonly string[],
): Pick<Separation['input'], 'prompt' | 'prompts'> =>
  typeof prompt === 'string'
    ? { prompt }
    : prompt.length === 1
      ? { prompt: prompt[0]! }
      : { prompts: [...prompt] }
