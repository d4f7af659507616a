/** The separation that is being prepared. */

import { signal } from '@preact/signals'
import type { Submission } from '../../clients/typescript/client.ts'

export interface Span {
  start: number
  end: number
  /** Whether the sound is present in this span, or absent. */
  include: boolean
}

/** Media in this page: a local file, an example or a recording. */
export interface FileSource {
  kind: 'file'
  name: string
  contentType: string
  bytes: Blob
}

/** The fields by which a submission refers to an output of a request. */
export type OutputPlace = Required<Pick<Submission['input'], 'request_id' | 'output'>> &
  Pick<Submission['input'], 'output_index'>

/** An output or the source of a request, which the service has. */
export interface OutputSource {
  kind: 'output'
  name: string
  place: OutputPlace
  /** Null if it is too long to be decoded in the page, or this browser doesn't have it. */
  bytes: Blob | null
}

/** Media that the service fetches from an address. */
export interface AddressSource {
  kind: 'address'
  url: string
}

export type Source = FileSource | OutputSource | AddressSource

/** Several files, each of which becomes a request. */
export interface SeveralFiles {
  kind: 'files'
  files: readonly ChosenFile[]
  /** How many more files were not audio or video. */
  leftOut: number
}

export interface ChosenFile {
  /** Including its folders, for example `disc 1/song.wav`. */
  path: string
  source: FileSource
}

export type Options = Pick<
  Submission['input'],
  | 'separator'
  | 'output_format'
  | 'acceleration'
  | 'predict_spans'
  | 'reranking_candidates'
  | 'max_chunk_duration'
  | 'chunk_overlap'
  | 'audio_track'
>

/** Everything in a submission except prompts and media. */
export type RequestOptions = Options & { spans?: Span[] }

export const PROMPTS_MAX = 8

export const source = signal<Source | SeveralFiles | null>(null)
export const prompts = signal<string[]>([''])
export const spans = signal<Span[]>([])
/** Only what differs from the service's defaults. */
export const options = signal<Options>({})

/** Whether the files may wait, so that requests of others go first. */
export const mayWait = signal(false)

let choices = 0

/**
 * To be called when somebody chooses a source, even if it has to be read first.
 * @returns whether nobody has chosen another one since
 */
export function beginChoice(): () => boolean {
  choices += 1
  const choice = choices
  return () => choice === choices
}

/** Sets the source and drops spans and the track, which belonged to the previous one. */
export function setSource(next: Source | SeveralFiles | null): void {
  beginChoice()
  source.value = next
  spans.value = []
  const { audio_track: _other, ...rest } = options.value
  options.value = rest
}

/** Whether media may have several audio tracks, as videos and addresses may. */
export function mayHaveTracks(media: Source | SeveralFiles | null): boolean {
  if (media?.kind === 'files') return media.files.some(({ source }) => isVideo(source))
  if (media?.kind === 'output') return media.place.output === 'source'
  return media?.kind === 'address' || (media?.kind === 'file' && isVideo(media))
}

const isVideo = ({ contentType }: FileSource): boolean => contentType.startsWith('video/')

/** The prompts that are not empty, without duplicates. */
export const filledPrompts = (): string[] => [
  ...new Set(prompts.value.map((prompt) => prompt.trim()).filter(Boolean)),
]

/** Adds a prompt in the first empty field, or removes it. */
export function togglePrompt(name: string): void {
  const isOther = (prompt: string) => prompt.trim().toLowerCase() !== name
  const others = prompts.value.filter(isOther)
  if (others.length === prompts.value.length) {
    const filled = others.filter((prompt) => prompt.trim() !== '')
    prompts.value = [...filled, name]
  } else {
    prompts.value = others.length > 0 ? others : ['']
  }
}

/** Resets the form for the next user. */
export function clearDraft(): void {
  setSource(null)
  prompts.value = ['']
  options.value = {}
  mayWait.value = false
}

/** The fields by which a submission refers to its media. */
export type Place = { file_id: string } | { audio_url: string } | OutputPlace

export const formOptions = (): RequestOptions => ({
  ...options.value,
  ...(spans.value.length > 0 && { spans: spans.value }),
})

/** The part of an `input` that names sounds. */
export const promptInput = (prompts: readonly string[]) =>
  prompts.length === 1 ? { prompt: prompts[0]! } : { prompts: [...prompts] }

/** The `input` of the submission without its media. */
export const formInput = () => ({ ...promptInput(filledPrompts()), ...formOptions() })

/** The `input` of the submission. */
export const inputOf = (place: Place) => ({ ...formInput(), ...place })
