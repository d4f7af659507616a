/**
 * The middle of a job: mixture in, targets and residual out, in chunks that overlap in time and
 * work.
 */

import { createHash } from 'node:crypto'
import { assertSpansBegin } from '../../shared/media-limits.ts'
import { targetNames, type Finding, type Job, type OutputName } from '../../shared/messages.ts'
import { beginSpan } from '../../shared/telemetry/tracing.ts'
import { promptsOf, type AudioSpan } from '../../shared/separation-options.ts'
import type { LaneResult, ModelDescription, OverlapState, Span } from '../../models/model.ts'
import { allSettledOrThrow } from './all-settled-or-throw.ts'
import { bestCandidate, type Ranked } from './candidates.ts'
import {
  chunkCount,
  cutChunks,
  planChunks,
  Stitcher,
  type ChunkPlan,
  type MixtureChunk,
} from './chunks.ts'
import { findingOf } from './findings.ts'
import { describeWork, type ChunkWork } from './job-log.ts'
import { LaneSpans } from './lane-spans.ts'
import type { Parts } from './outputs.ts'
import { TargetCorrelation } from './target-correlation.ts'
import type { Mixture } from '../media/mixture.ts'
import type { Scheduler } from '../compute/scheduler.ts'

interface SeparationDeps {
  scheduler: Scheduler
  model: ModelDescription
  config: { chunksInFlightMax: number }
  signal: AbortSignal
  /** Seconds of the mixture as far as they are known before it is decoded. */
  secondsExpected: number
  log(message: string): void
  /** Takes the next planar samples of all outputs. */
  write(parts: Parts): Promise<void>
  /** From 0 to 1. */
  onProgress(progress: number): void
}

/**
 * Separates `mixture` and hands the results to `write` in order. At most `chunksInFlightMax` chunks
 * are decoded, in the model or waiting to be joined, whatever the length of the media; of a model
 * whose chunks need the previous one, one; with several prompts, as many fewer, but one.
 *
 * The residual of one prompt is the model's. Of several it is the mixture minus all targets, sample
 * by sample.
 * @returns samples of the mixture, and what the model found out about each prompt
 * @throws ServiceError INVALID_PARAMETER for a span past the end; what decoding or the model throws
 */
export async function separateMixture(
  job: Job,
  mixture: Mixture,
  deps: SeparationDeps,
): Promise<{ samples: number; findings: Finding[] }> {
  const { options } = job
  const prompts = promptsOf(job.prompt, options)
  const plan = planOf(job, mixture, deps.model)
  const candidates = deps.model.givesCandidates ? options.reranking_candidates : 1
  const samplesExpected = Math.ceil(deps.secondsExpected * mixture.sampleRate)
  const expected = { samples: samplesExpected, plan, lanes: candidates * prompts.length }
  const progress = createProgress(expected, deps.onProgress)
  const inFlight: Promise<SeparatedChunk>[] = []
  const work: ChunkWork[][] = prompts.map(() => [])
  const joiner = new Joiner(prompts, plan, deps.write)
  const inFlightMax = chunksInFlight(prompts.length, deps)
  let samples = 0
  let overlapStates: readonly (OverlapState | undefined)[] = []
  const spans = new LaneSpans()
  // Once one lane has failed, the others of the job would be computed for nothing.
  const stop = new AbortController()
  const signal = AbortSignal.any([deps.signal, stop.signal])
  const decoding = beginSpan('decode')
  const settleFirst = async () => {
    const settled = await inFlight.shift()
    if (!settled) return
    const { chunk, lanes, residual } = settled
    overlapStates = lanes.map(({ best }) => best.overlapState)
    for (const [i, lane] of lanes.entries()) {
      work[i]!.push(workOn(lane, settled, mixture.sampleRate))
    }
    await joiner.push(chunk, lanes, residual)
  }
  try {
    for await (const chunk of cutChunks(mixture.blocks(), mixture.channels, plan)) {
      samples = chunk.startSample + (chunk.channels[0]?.length ?? 0)
      const lanesOf = { candidates, onStep: progress.step, overlapStates, spans }
      const separated = separateChunk(job, chunk, mixture, { ...deps, ...lanesOf, signal, stop })
      separated.catch(() => undefined) // awaited later, in order: until then it is not unhandled
      inFlight.push(separated)
      if (inFlight.length >= inFlightMax) await settleFirst()
    }
    decoding.end()
    assertSpansBegin(options.spans, samples / mixture.sampleRate)
    while (inFlight.length > 0) await settleFirst()
  } catch (error) {
    stop.abort(error)
    throw error
  } finally {
    decoding.end({ code: 'INTERRUPTED' }) // unless it had ended before
    await Promise.allSettled(inFlight)
  }
  await joiner.finish()
  const { sampleRate } = mixture
  const { model } = deps
  const lines = describeWork({ options, model, plan, samples, sampleRate, prompts, work })
  for (const line of [...lines, ...joiner.describe()]) deps.log(line)
  return { samples, findings: work.map(findingOf) }
}

const chunksInFlight = (prompts: number, { model, config }: SeparationDeps): number =>
  model.needsPreviousChunk ? 1 : Math.max(1, Math.floor(config.chunksInFlightMax / prompts))

function planOf({ options }: Job, mixture: Mixture, model: ModelDescription): ChunkPlan {
  return planChunks({
    sampleRate: mixture.sampleRate,
    channels: mixture.channels,
    chunkSecondsMax: options.max_chunk_duration,
    overlapSeconds: options.chunk_overlap,
    modelChunkSecondsMax: model.chunkSecondsMax,
    modelOverlapSecondsMax: model.overlapSecondsMax[options.acceleration],
    frameSamples: model.frameSamples,
  })
}

/** Joins the chunks' parts into outputs. */
class Joiner {
  readonly #names: readonly OutputName[]
  readonly #stitchers: readonly Stitcher[]
  readonly #correlation: TargetCorrelation
  readonly #write: SeparationDeps['write']

  constructor(prompts: readonly string[], plan: ChunkPlan, write: SeparationDeps['write']) {
    this.#names = [...targetNames(prompts.length), 'residual']
    this.#stitchers = this.#names.map(() => new Stitcher(plan))
    this.#correlation = new TargetCorrelation(prompts)
    this.#write = write
  }

  async push(
    { startSample }: MixtureChunk,
    lanes: readonly Ranked[],
    residual: Float32Array[],
  ): Promise<void> {
    const parts = [...lanes.map(({ best }) => best.target), residual]
    await this.#emit(parts.map((part, i) => this.#stitchers[i]!.push(startSample, part)))
  }

  async finish(): Promise<void> {
    await this.#emit(this.#stitchers.map((stitcher) => stitcher.finish()))
  }

  /** Lines of the log. */
  describe(): string[] {
    return this.#correlation.describe()
  }

  async #emit(parts: readonly Float32Array[][]): Promise<void> {
    this.#correlation.add(parts.slice(0, -1))
    await this.#write(new Map(parts.map((part, i) => [this.#names[i]!, part])))
  }
}

interface SeparatedChunk {
  chunk: MixtureChunk
  samples: number
  /** The lane of each prompt. */
  lanes: readonly Ranked[]
  residual: Float32Array[]
}

const workOn = (
  { scores, chosen, best }: Ranked,
  { chunk, samples }: SeparatedChunk,
  sampleRate: number,
): ChunkWork => ({
  startSecond: chunk.startSample / sampleRate,
  endSecond: (chunk.startSample + samples) / sampleRate,
  scores,
  chosen,
  match: best.match,
  presenceGain: best.presenceGain,
  meanings: best.meanings,
  understoodAs: best.understoodAs,
  substitute: best.substitute,
  nearest: best.nearest,
  predictedSpans: best.predictedSpans,
})

type ChunkDeps = Pick<SeparationDeps, 'scheduler' | 'signal'> & {
  /** Ends all lanes of the job. */
  stop: AbortController
  candidates: number
  onStep(share: number): void
  spans: LaneSpans
  /** The overlap states of the previous chunk, of each prompt. */
  overlapStates: readonly (OverlapState | undefined)[]
}

async function separateChunk(
  job: Job,
  chunk: MixtureChunk,
  { sampleRate }: Mixture,
  { scheduler, signal, stop, candidates, onStep, overlapStates, spans }: ChunkDeps,
): Promise<SeparatedChunk> {
  const { startSample, sharedSamples: overlapSamples, channels } = chunk
  const { options, request_id: requestId } = job
  const samples = channels[0]?.length ?? 0
  const request = {
    spans: chunkSpans(options.spans, startSample / sampleRate, samples / sampleRate),
    acceleration: options.acceleration,
    predictSpans: options.predict_spans && options.spans.length === 0,
    startSample,
    overlapSamples,
  }
  const owner = { accountId: job.account_id, requestId }
  const separatePrompt = (prompt: string, i: number, copy: Float32Array[]): Promise<Ranked> =>
    bestCandidate(copy, candidates, (channels, candidate): Promise<LaneResult> => {
      const overlapState = overlapStates[i]
      const lane = {
        ...request,
        prompt,
        chunk: { channels, sampleRate },
        candidate,
        candidates,
        seed: laneSeed(requestId, candidate),
        ...(overlapState && { overlapState }),
      }
      const where = { chunk_start_seconds: startSample / sampleRate, candidate }
      const separated = spans.trace(where, (onBegin) =>
        scheduler.separate(lane, owner, { signal, onStep, onBegin }),
      )
      separated.catch((error: unknown) => stop.abort(error))
      return separated
    })
  const prompts = promptsOf(job.prompt, options)
  if (prompts.length === 1) {
    const lane = await separatePrompt(job.prompt, 0, channels)
    return { chunk, samples, lanes: [lane], residual: lane.best.residual }
  }
  // Each hands its memory over; the chunk's own is for the residual.
  const lanes = await allSettledOrThrow(
    prompts.map((prompt, i) =>
      separatePrompt(
        prompt,
        i,
        channels.map((wave) => wave.slice()),
      ),
    ),
  )
  const targets = lanes.map(({ best }) => best.target)
  return { chunk, samples, lanes, residual: subtractAll(channels, targets) }
}

/** [channels][samples] minus all of `targets`. */
const subtractAll = (
  mixture: readonly Float32Array[],
  targets: readonly (readonly Float32Array[])[],
): Float32Array[] =>
  mixture.map((wave, c) => {
    const rest = wave.slice()
    for (const target of targets) {
      const taken = target[c]!
      for (let i = 0; i < rest.length; i += 1) rest[i]! -= taken[i]!
    }
    return rest
  })

/**
 * The spans in a chunk, in seconds from its start. Where the target is only elsewhere, there is one
 * empty span: no span at all would mean that nothing is known.
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

/** 32 bits that depend on request and candidate only, so that a retried job repeats its result. */
function laneSeed(requestId: string, candidate: number): number {
  const name = `${requestId}:${candidate}`
  return createHash('sha256').update(name).digest().readUInt32LE(0)
}

interface Expected {
  samples: number
  plan: ChunkPlan
  /** Of a chunk: of every prompt each candidate. */
  lanes: number
}

/**
 * Counts lanes against those that are expected of so many samples; stays below 1 to the end.
 */
function createProgress(
  { samples, plan, lanes: lanesOfChunk }: Expected,
  onProgress: (progress: number) => void,
) {
  const expected = lanesOfChunk * Math.max(1, chunkCount(samples, plan))
  let lanes = 0
  return {
    step: (share: number) => {
      lanes += share
      onProgress(Math.min(0.99, lanes / (expected + 1)))
    },
  }
}
