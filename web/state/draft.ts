/** The separation that is being put together. */

import { signal } from '@preact/signals'
import type { Submission } from '../../clients/typescript/client.ts'

export interface Span {
  start: number
  end: number
  /** The sound is there; false: it is not. */
  include: boolean
}

/** A file of this computer, an example or a recording; or an address that the service fetches. */
export type Source =
  | { kind: 'file'; name: string; contentType: string; bytes: Blob }
  | { kind: 'address'; url: string }

export type Options = Pick<
  Submission['input'],
  | 'output_format'
  | 'acceleration'
  | 'predict_spans'
  | 'reranking_candidates'
  | 'max_chunk_duration'
  | 'chunk_overlap'
>

export const PROMPTS_MAX = 8

export const source = signal<Source | null>(null)
export const prompts = signal<string[]>([''])
export const spans = signal<Span[]>([])
/** Only what differs from the service's defaults. */
export const options = signal<Options>({})

/** Another source has other times. */
export function setSource(next: Source | null): void {
  source.value = next
  spans.value = []
}

/** The prompts that say something, each once. */
export const givenPrompts = (): string[] => [
  ...new Set(prompts.value.map((prompt) => prompt.trim()).filter(Boolean)),
]

/** The `input` of the submission. */
export function inputOf(place: { file_id: string } | { audio_url: string }) {
  const given = givenPrompts()
  return {
    ...(given.length === 1 ? { prompt: given[0]! } : { prompts: given }),
    ...place,
    ...options.value,
    ...(spans.value.length > 0 && { spans: spans.value }),
  }
}
