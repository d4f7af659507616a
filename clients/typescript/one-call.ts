/** Makes the form of a single call that contains the media. */

import type { components } from './api.ts'

type Schemas = components['schemas']
type Submission = Schemas['SubmitAudioSeparateRequest'] | Schemas['SubmitAudioSoundsRequest']

/** Larger media is uploaded separately, which has progress and retries. */
export const ONE_CALL_BYTES_MAX = 32 * 2 ** 20

/** How long a call waits for the result; less than proxies and time limits allow. */
export const WAIT_SECONDS = 20

/** Bytes per second of the slowest connection that such calls support. */
const SLOWEST = 100_000

/** Returns how much longer than other calls one with that much media may take. */
export const secondsFor = (bytes: number): number => WAIT_SECONDS + Math.ceil(bytes / SLOWEST)

/** @returns the fields in the order that the service requires, the file last */
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
