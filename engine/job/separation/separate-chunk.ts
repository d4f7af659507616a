/** Asks one model all questions about one chunk, with as many heads at once as memory allows. */

import { laneOwnerOf } from '../lane-owner.ts'
import { createHash } from 'node:crypto'
import type { Level } from '../../../models/lanes/level.ts'
import type {
  ChunkRequest,
  Head,
  HeadResult,
  ModelDescription,
  OverlapState,
  Span,
} from '../../../models/model.ts'
import type { Job } from '../../../shared/messages.ts'
import type { AudioSpan } from '../../../shared/separation-options.ts'
import type { Scheduler } from '../../compute/scheduler.ts'
import { rankCandidates, type CandidateRanking } from './candidates.ts'
import type { MixtureChunk } from '../chunks.ts'
import type { LaneSpans } from './lane-spans.ts'

/** A question to a model: a sound and, if the model has stems, those that answer it. */
export interface ModelQuestion {
  prompt: string
  stems: readonly string[]
  /**
   * Whether the target keeps its level even if it seems absent, because people want to remove it.
   */
  keepsLevel?: boolean
}

/** Memory for all heads of one job, in all chunks in flight. */
const JOB_BYTES_MAX = 2 ** 28

/**
 * A head takes this many times the bytes of its chunk, for samples, spectra and intermediate
 * results (measured as 11.6 MiB for a mono chunk of 10 s at 44.1 kHz).
 */
const CHUNKS_HELD_BY_HEAD = 7

/**
 * Returns how many heads each pass of the job may have open at once.
 * @param chunkSamples samples of a chunk, in all channels together
 */
export function headsAtOnce(chunkSamples: number, passes: number): number {
  const bytes = CHUNKS_HELD_BY_HEAD * Float32Array.BYTES_PER_ELEMENT * Math.max(1, chunkSamples)
  return Math.max(1, Math.floor(JOB_BYTES_MAX / passes / bytes))
}

export interface ChunkDeps {
  scheduler: Pick<Scheduler, 'separate'>
  model: ModelDescription
  signal: AbortSignal
  candidates: number
  /** How many passes the job has; they share its memory. */
  passes: number
  /** Sample rate of the chunk in hertz. */
  sampleRate: number
  /** The channels' loudspeakers; 0 if unknown. */
  channelMask: bigint
  /** Levels of the whole mixture, if the model needs them. */
  levels?: readonly Level[] | undefined
  onStep(share: number): void
  spans: LaneSpans
  /** The overlap states of the previous chunk, one per question. */
  overlapStates: readonly (OverlapState | undefined)[]
}

/** @returns the best candidate for each question */
export async function separateChunk(
  job: Job,
  { startSample, sharedSamples: overlapSamples, channels }: MixtureChunk,
  questions: readonly ModelQuestion[],
  deps: ChunkDeps,
): Promise<CandidateRanking[]> {
  const { options, request_id: requestId } = job
  const { sampleRate, channelMask, levels, candidates, model, spans: traces } = deps
  const samples = channels[0]?.length ?? 0
  const heads = questions.flatMap((question, i) =>
    Array.from({ length: candidates }, (_, candidate): Head & { of: number } => {
      const overlapState = deps.overlapStates[i]
      const seed = laneSeed(requestId, candidate)
      return { ...question, of: i, seed, candidate, ...(overlapState && { overlapState }) }
    }),
  )
  const request = {
    spans: chunkSpans(options.spans, startSample / sampleRate, samples / sampleRate),
    acceleration: options.acceleration,
    predictSpans: options.predict_spans && options.spans.length === 0,
    startSample,
    overlapSamples,
    candidates,
  }
  const separate = (waves: Float32Array[], part: readonly Head[]): Promise<HeadResult[]> => {
    const chunk = { channels: waves, sampleRate, channelMask, ...(levels && { levels }) }
    const chunkRequest: ChunkRequest = { ...request, chunk }
    const order = { model: model.name, request: chunkRequest, heads: part }
    const where = { chunk_start_seconds: startSample / sampleRate, candidate: part[0]!.candidate! }
    return traces.trace(where, (onBegin) =>
      deps.scheduler.separate(order, laneOwnerOf(job), { ...deps, onBegin }),
    )
  }
  const rankings = questions.map((): CandidateRanking | null => null)
  const atOnce = headsAtOnce(samples * channels.length, deps.passes)
  for (let first = 0; first < heads.length; first += atOnce) {
    const part = heads.slice(first, first + atOnce)
    const isLast = first + atOnce >= heads.length
    // The call takes over the memory, so all but the last call get a copy.
    const waves = isLast ? channels : channels.map((wave) => wave.slice())
    const results = await separate(waves, part)
    for (const i of new Set(part.map(({ of }) => of))) {
      rankings[i] = rankCandidates(
        rankings[i]!,
        results.filter((_, k) => part[k]!.of === i),
      )
    }
  }
  return rankings.map((ranking) => ranking!)
}

/**
 * Returns the spans within a chunk, in seconds from its start. If the target is only elsewhere,
 * returns one empty span, because no span at all would mean that nothing is known.
 */
export function chunkSpans(
  spans: readonly AudioSpan[],
  startSecond: number,
  seconds: number,
): Span[] {
  const within = (second: number) => Math.min(Math.max(second - startSecond, 0), seconds)
  const clipped = spans.map(({ start, end, include }) => ({
    start: within(start),
    end: within(end),
    include,
  }))
  const touching = clipped.filter(({ start, end }) => end > start)
  const sounds = (list: readonly Span[]) => list.some(({ include }) => include)
  if (!sounds(spans) || sounds(touching)) return touching
  return [...touching, { start: 0, end: 0, include: true }]
}

/**
 * Returns 32 bits that depend only on request and candidate, so that a retried job repeats its
 * result.
 */
function laneSeed(requestId: string, candidate: number): number {
  const name = `${requestId}:${candidate}`
  return createHash('sha256').update(name).digest().readUInt32LE(0)
}
