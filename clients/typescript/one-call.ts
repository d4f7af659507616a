/** The form of a call that brings media with what is asked of it. */

import type { components } from './api.ts'

type Schemas = components['schemas']
type Submission = Schemas['SubmitAudioSeparateRequest'] | Schemas['SubmitAudioSoundsRequest']

/** Media that is larger is sent by itself: with its progress, and again from where a call broke. */
export const ONE_CALL_BYTES_MAX = 32 * 2 ** 20

/** How long a call waits for the result: less than proxies and time limits do. */
export const WAIT_SECONDS = 20

/** Bytes a second of the slowest connection that such a call is made over. */
const SLOWEST = 100_000

/** How long a call with so much media takes at most until it is answered, beyond what others do. */
export const secondsFor = (bytes: number): number => WAIT_SECONDS + Math.ceil(bytes / SLOWEST)

/** @returns its fields in the order that the service asks for, the file last */
export function formOf(
  { name, contentType, bytes }: { name: string; contentType: string; bytes: Blob },
  { input, ...top }: Submission,
): FormData {
  const { prompt, prompts, ...options }: Schemas['AudioSeparateInput'] = input
  const form = new FormData()
  for (const text of prompts ?? [prompt ?? []].flat()) form.append('prompt', text)
  for (const [field, value] of Object.entries({ ...options, ...top })) {
    if (value === undefined || value === null) continue
    form.append(field, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  form.append('file', new Blob([bytes], { type: contentType }), name)
  return form
}
