/** Writes the lines of a job in its client's `logs`: what was found, decided and done. */

import type { AudioSpan, SeparationOptions } from '../../../shared/separation-options.ts'
import type { ChunkFinding, ModelDescription, Span } from '../../../models/model.ts'
import { chunkCount, type ChunkPlan } from '../chunks.ts'
import type { Finding } from '../../../shared/finding.ts'
import { findingOf, softenedDb } from '../findings/findings.ts'
import { mergeSpans, type TimeSpan } from '../findings/tagged-file.ts'
import type { Mixture } from '../../media/read/mixture.ts'
import type { OutputsResult } from '../outputs/outputs.ts'

/** Scores are logged chunk by chunk for at most this many chunks. */
const CHUNKS_LISTED_MAX = 12
/** Below this match the sound is probably not in the chunk. */
const MATCH_MIN = 0.5
/** At most this many spans are logged individually. */
const SPANS_LISTED_MAX = 24

export function describeMixture(mixture: Mixture): string[] {
  const { codec, container, sampleRate, channels, sourceChannels, sourceSampleRate } = mixture
  const mixed = sourceChannels > channels ? `, mixed down from ${sourceChannels}` : ''
  const resampled = sourceSampleRate === sampleRate ? '' : ` (from ${sourceSampleRate} Hz)`
  const picture = mixture.hasVideo ? ', with a picture' : ''
  return [
    `Decoding ${codec} in ${container}${picture}: ${sampleRate} Hz${resampled}, ` +
      `${countText(channels, 'channel')}${mixed}.`,
    ...mixture.trackRemarks,
  ]
}

/** Describes how the media was read, once all of it has been decoded. */
export const describeReading = ({ corruptPackets, remarks }: Mixture): string[] => [
  ...remarks,
  ...(corruptPackets === 0
    ? []
    : [`Left out ${countText(corruptPackets, 'damaged packet')} of the source.`]),
]

export interface ChunkWork extends ChunkFinding {
  startSecond: number
  endSecond: number
  /** Scores of its candidates, and the index of the one that was kept. */
  scores: readonly number[]
  chosen: number
  /** In seconds from the start of the chunk. */
  predictedSpans?: readonly Span[] | undefined
}

/** The work of one model. */
export interface PassWork {
  model: ModelDescription
  plan: ChunkPlan
  /** Length of the mixture, at the model's rate. */
  samples: number
  /** Sample rate of the chunks in hertz. */
  sampleRate: number
}

export interface PromptWork {
  prompt: string
  model: ModelDescription
  work: readonly ChunkWork[]
  finding: Finding
}

export const describeWork = (
  options: SeparationOptions,
  passes: readonly PassWork[],
  prompts: readonly PromptWork[],
): string[] => [
  ...passes.map((pass) => describeChunks(options, pass)),
  ...(passes.some(({ model }) => model.fixedChunks === null) ? describeOverlap(options) : []),
  ...describeGivenSpans(options.spans),
  ...prompts.flatMap((work) => {
    const lines = describePrompt({ ...work, options })
    return prompts.length === 1 ? lines : lines.map((line) => `"${work.prompt}": ${line}`)
  }),
]

type PromptWithOptions = PromptWork & { options: SeparationOptions }

const describePrompt = (all: PromptWithOptions): string[] => [
  ...describeMeaning(all.work),
  ...describePresence(all),
  ...describeCandidates(all),
  ...describePredictedSpans(all),
]

function describeChunks(
  { acceleration }: SeparationOptions,
  { model, plan, samples, sampleRate }: PassWork,
): string {
  const chunks = chunkCount(samples, plan)
  const seconds = (count: number) => (count / sampleRate).toFixed(2)
  const cut =
    chunks === 1
      ? 'one chunk'
      : `${chunks} chunks of ${seconds(plan.chunkSamples)} s ` +
        `overlapping by ${seconds(plan.overlapSamples)} s`
  return (
    `Separated ${seconds(samples)} s with ${model.name} in ${cut}; ` +
    `${acceleration}: ${model.passes[acceleration]}.`
  )
}

/** Clients may ask for more overlap than any chunk has. */
const describeOverlap = ({ chunk_overlap, max_chunk_duration }: SeparationOptions): string[] =>
  chunk_overlap < max_chunk_duration
    ? []
    : [
        `chunk_overlap, ${chunk_overlap} s, was reduced: it is not below max_chunk_duration, ` +
          `${max_chunk_duration} s, and chunks overlap by half at most.`,
      ]

/** The same for every chunk. */
function describeMeaning([first]: readonly ChunkWork[]): string[] {
  const { meanings = [], understoodAs, nearest = [] } = first ?? {}
  const list = meanings.map(({ name, probability }) => `${name} (${probability.toFixed(2)})`)
  if (understoodAs === null) {
    const { holds } = findingOf({ work: [first!], tagged: null })
    const instead = holds === undefined ? '' : ` The target holds ${holds} instead.`
    const names = nearest.length > 0 ? ` The nearest names: ${nearest.join(', ')}.` : ''
    return [`The model has no name that is near the prompt.${instead}${names}`]
  }
  return list.length > 0 ? [`The prompt is taken to mean: ${list.join(', ')}.`] : []
}

function describePresence({ work, finding }: PromptWithOptions): string[] {
  const { state, match, similar_to: similarTo, where = [] } = finding
  if (state === undefined || state === 'unknown' || match === undefined) return []
  const is = `its match is ${match.toFixed(2)} of 1`
  const kept = `What was found is in the target all the same${describeSoftening(work)}.`
  if (state === 'absent') return [`The requested sound was not heard: ${is}. ${kept}`]
  if (state === 'unsure') return [`It is uncertain whether the sound is there: ${is}. ${kept}`]
  if (state === 'similar') {
    const other = similarTo === undefined ? 'another' : `another, ${similarTo},`
    return [`Instead of the requested sound, ${other} was heard: ${is}. ${kept}`]
  }
  const absent = work.filter((chunk) => chunk.match !== undefined && chunk.match < MATCH_MIN)
  const chunks = `${countText(absent.length, 'chunk')} of ${work.length}`
  const but =
    absent.length === 0 ? '' : `; it seems absent from ${chunks}${describeSoftening(work)}`
  const list = where.slice(0, SPANS_LISTED_MAX).map(range)
  const at = list.length === 0 ? '' : ` It was heard from ${listText(list, where.length)}.`
  return [`The match of the requested sound is ${match.toFixed(2)} of 1${but}.${at}`]
}

/** How much quieter the chunks are in which the sound seems absent. */
function describeSoftening(work: readonly ChunkWork[]): string {
  const most = softenedDb(work)
  return most > 0 ? `, up to ${most.toFixed(0)} dB softer` : ''
}

function describeCandidates({ options, model, work }: PromptWithOptions): string[] {
  const { reranking_candidates: candidates } = options
  if (candidates === 1) return []
  if (!model.givesCandidates) {
    return [`${model.name} gives one answer whatever the seed, so one candidate was made.`]
  }
  const listedWork = work.slice(0, CHUNKS_LISTED_MAX).map(({ scores, chosen }, i) => {
    const list = scores.map((score) => score.toFixed(4)).join(', ')
    return `Chunk ${i + 1}: candidate ${chosen + 1} was kept; scores ${list}.`
  })
  const rest = work.length - listedWork.length
  return [
    `Made ${candidates} candidates of every chunk and kept the one that the model scored highest.`,
    ...listedWork,
    ...(rest > 0 ? [`Not listed: ${countText(rest, 'more chunk')}.`] : []),
  ]
}

function describeGivenSpans(spans: readonly AudioSpan[]): string[] {
  if (spans.length === 0) return []
  const list = spans
    .slice(0, SPANS_LISTED_MAX)
    .map((span) => `${range(span)} (${span.include ? 'sounds' : 'does not sound'})`)
  return [`Used ${countText(spans.length, 'given span')}: ${listText(list, spans.length)}.`]
}

function describePredictedSpans({ options, model, work }: PromptWithOptions): string[] {
  if (!options.predict_spans) return []
  if (options.spans.length > 0) return ['predict_spans was ignored because spans were given.']
  if (!model.predictsSpans) return [`${model.name} can't predict spans, so none were used.`]
  if (work[0]?.substitute) return ['No span was predicted, because no name is near the prompt.']
  const spans = mergedSpans(work)
  if (spans.length === 0) {
    return ['No span was predicted: the sound seems absent. Nothing was silenced.']
  }
  const list = spans.slice(0, SPANS_LISTED_MAX).map(range)
  const without = work.filter(({ predictedSpans }) => predictedSpans?.length === 0)
  const found =
    `Predicted ${countText(spans.length, 'span')} with the sound, and ` +
    `used them: ${listText(list, spans.length)}.`
  if (without.length === 0) return [found]
  const where = without
    .slice(0, SPANS_LISTED_MAX)
    .map(({ startSecond: start, endSecond: end }) => range({ start, end }))
  return [
    found,
    `It seems absent from ${countText(without.length, 'chunk')}, left as the model ` +
      `gave them: ${listText(where, without.length)}.`,
  ]
}

/** The predicted spans of all chunks, in the time of the media, with adjacent ones merged. */
export const mergedSpans = (work: readonly ChunkWork[]): TimeSpan[] =>
  mergeSpans(
    work.flatMap(({ startSecond, predictedSpans = [] }) =>
      predictedSpans.map(({ start, end }) => ({
        start: start + startSecond,
        end: end + startSecond,
      })),
    ),
  )

type Sound = Pick<Mixture, 'sampleRate' | 'channels'>

/** @param gainDb at most 0 */
export const describeGain = (gainDb: number): string[] =>
  gainDb === 0
    ? []
    : [
        `Lowered all outputs by ${(-gainDb).toFixed(2)} dB: otherwise samples beyond full scale ` +
          'would have been clipped.',
      ]

/** @param sound format of the files */
export function describeStored(stored: OutputsResult, sound: Sound, mixture: Sound): string {
  const { extension } = stored.target
  const resampled = sound.sampleRate === mixture.sampleRate ? '' : ` at ${sound.sampleRate} Hz`
  const mixed =
    sound.channels === mixture.channels
      ? ''
      : `, mixed down to ${countText(sound.channels, 'channel')}`
  const { residual, peaks, preview, gain_db, ...targets } = stored
  const names = [...Object.keys(targets), 'residual'].map((name) => name.replace('_', ' '))
  const videos = [...Object.values(targets), residual].flatMap(({ video }, i) =>
    video ? names[i]! : [],
  )
  const shown =
    videos.length === 0 ? '' : `, and a video with the ${videos.join(' and one with the ')}`
  const written = `${names.slice(0, -1).join(', ')} and residual`
  return `Stored ${written} as ${extension}${resampled}${mixed}${shown}.`
}

const countText = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? '' : 's'}`

const range = ({ start, end }: TimeSpan): string => `${start.toFixed(2)} to ${end.toFixed(2)} s`

const listText = (items: readonly string[], all: number): string =>
  items.join(', ') + (all > items.length ? ` and ${all - items.length} more` : '')
