/**
 * The middle of a job: mixture in, target and residual out, in chunks that overlap in time and
 * work.
 */

import { createHash } from 'node:crypto'
import { assertSpansBegin } from '../../shared/media-limits.ts'
import type { Job } from '../../shared/messages.ts'
import { beginSpan } from '../../shared/tracing.ts'
import type { AudioSpan } from '../../shared/separation-options.ts'
import type {
  LaneResult,
  ModelDescription,
  OverlapState,
  Separation,
  Span,
} from '../../models/model.ts'
import { bestCandidate, type Ranked } from './candidates.ts'
import {
  chunkCount,
  cutChunks,
  planChunks,
  Stitcher,
  type ChunkPlan,
  type MixtureChunk,
} from './chunks.ts'
import { describeWork, type ChunkWork } from './job-log.ts'
import { LaneSpans } from './lane-spans.ts'
import type { Mixture } from '../media/decode.ts'
import type { Scheduler } from '../compute/scheduler.ts'

interface SeparationDeps {
  scheduler: Scheduler
  model: ModelDescription
  config: { chunksInFlightMax: number }
  signal: AbortSignal
  /** Seconds of the mixture as far as they are known before it is decoded. */
  secondsExpected: number
  log(message: string): void
  /** Takes the next planar samples of both outputs. */
  write(parts: Separation): Promise<void>
  /** From 0 to 1. */
  onProgress(progress: number): void
}

/**
 * Separates `mixture` and hands the results to `write` in order. At most `chunksInFlightMax` chunks
 * are decoded, in the model or waiting to be joined, whatever the length of the media; of a model
 * whose chunks need the previous one, one.
 * @returns samples of the mixture
 * @throws ServiceError INVALID_PARAMETER for a span past the end; what decoding or the model throws
 */
export async function separateMixture(
  job: Job,
  mixture: Mixture,
  deps: SeparationDeps,
): Promise<number> {
  const { options } = job
  const plan = planChunks({
    sampleRate: mixture.sampleRate,
    channels: mixture.channels,
    chunkSecondsMax: options.max_chunk_duration,
    overlapSeconds: options.chunk_overlap,
    modelChunkSecondsMax: deps.model.chunkSecondsMax,
    modelOverlapSecondsMax: deps.model.overlapSecondsMax[options.acceleration],
    frameSamples: deps.model.frameSamples,
  })
  const candidates = deps.model.givesCandidates ? options.reranking_candidates : 1
  const progress = createProgress(
    { samples: Math.ceil(deps.secondsExpected * mixture.sampleRate), plan, candidates },
    deps.onProgress,
  )
  const inFlight: Promise<SeparatedChunk>[] = []
  const work: ChunkWork[] = []
  const joined = { target: new Stitcher(plan), residual: new Stitcher(plan) }
  const inFlightMax = deps.model.needsPreviousChunk ? 1 : deps.config.chunksInFlightMax
  let samples = 0
  let overlapState: OverlapState | undefined
  const spans = new LaneSpans()
  const decoding = beginSpan('decode')
  const settleFirst = async () => {
    const settled = await inFlight.shift()
    if (!settled) return
    overlapState = settled.best.overlapState
    work.push(workOn(settled, mixture.sampleRate))
    await deps.write(join(joined, settled.chunk.startSample, settled.best))
  }
  try {
    for await (const chunk of cutChunks(mixture.blocks(), mixture.channels, plan)) {
      samples = chunk.startSample + (chunk.channels[0]?.length ?? 0)
      const onStep = progress.step
      const chunkDeps = { ...deps, candidates, onStep, overlapState, spans }
      const separated = separateChunk(job, chunk, mixture, chunkDeps)
      separated.catch(() => undefined) // awaited later, in order: until then it is not unhandled
      inFlight.push(separated)
      if (inFlight.length >= inFlightMax) await settleFirst()
    }
    decoding.end()
    assertSpansBegin(options.spans, samples / mixture.sampleRate)
    while (inFlight.length > 0) await settleFirst()
  } finally {
    decoding.end({ code: 'INTERRUPTED' }) // unless it had ended before
    await Promise.allSettled(inFlight)
  }
  await deps.write({ target: joined.target.finish(), residual: joined.residual.finish() })
  const { sampleRate } = mixture
  const lines = describeWork({ options, model: deps.model, plan, samples, sampleRate, work })
  for (const line of lines) deps.log(line)
  return samples
}

type SeparatedChunk = Ranked & { chunk: MixtureChunk; samples: number }

const workOn = (
  { chunk, samples, scores, chosen, best }: SeparatedChunk,
  sampleRate: number,
): ChunkWork => ({
  startSecond: chunk.startSample / sampleRate,
  endSecond: (chunk.startSample + samples) / sampleRate,
  scores,
  chosen,
  match: best.match,
  meanings: best.meanings,
  predictedSpans: best.predictedSpans,
})

function join(
  joined: { target: Stitcher; residual: Stitcher },
  startSample: number,
  separation: Separation,
): Separation {
  return {
    target: joined.target.push(startSample, separation.target),
    residual: joined.residual.push(startSample, separation.residual),
  }
}

type ChunkDeps = Pick<SeparationDeps, 'scheduler' | 'signal'> & {
  candidates: number
  onStep(share: number): void
  spans: LaneSpans
  /** The overlap state of the previous chunk. */
  overlapState: OverlapState | undefined
}

async function separateChunk(
  job: Job,
  chunk: MixtureChunk,
  { sampleRate }: Mixture,
  { scheduler, signal, candidates, onStep, overlapState, spans }: ChunkDeps,
): Promise<SeparatedChunk> {
  const { startSample, sharedSamples: overlapSamples, channels } = chunk
  const { options, request_id: requestId } = job
  const samples = channels[0]?.length ?? 0
  const request = {
    prompt: job.prompt,
    spans: chunkSpans(options.spans, startSample / sampleRate, samples / sampleRate),
    acceleration: options.acceleration,
    predictSpans: options.predict_spans && options.spans.length === 0,
    startSample,
    overlapSamples,
    ...(overlapState && { overlapState }),
  }
  const owner = { accountId: job.account_id, requestId }
  const separate = (copy: Float32Array[], candidate: number): Promise<LaneResult> => {
    const seed = laneSeed(requestId, candidate)
    const chunkOf = { channels: copy, sampleRate }
    const lane = { ...request, chunk: chunkOf, candidate, candidates, seed }
    const where = { chunk_start_seconds: startSample / sampleRate, candidate }
    return spans.trace(where, (onBegin) =>
      scheduler.separate(lane, owner, { signal, onStep, onBegin }),
    )
  }
  return { chunk, samples, ...(await bestCandidate(channels, candidates, separate)) }
}

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
  candidates: number
}

/**
 * Counts lanes against those that are expected of so many samples; stays below 1 to the end.
 */
function createProgress(
  { samples, plan, candidates }: Expected,
  onProgress: (progress: number) => void,
) {
  const expected = candidates * Math.max(1, chunkCount(samples, plan))
  let lanes = 0
  return {
    step: (share: number) => {
      lanes += share
      onProgress(Math.min(0.99, lanes / (expected + 1)))
    },
  }
}
