/**
 * The middle of a job: mixture in, target and residual out, in chunks that overlap in time and
 * work.
 */

import { createHash } from 'node:crypto'
import { ServiceError } from '../shared/errors.ts'
import type { Job } from '../shared/messages.ts'
import type { AudioSpan } from '../shared/separation-options.ts'
import type { ModelDescription, Separation, Span } from '../models/model.ts'
import {
  chunkCount, cutChunks, planChunks, Stitcher, type ChunkPlan, type MixtureChunk,
} from './chunks.ts'
import type { Mixture } from './media/decode.ts'
import type { Scheduler } from './scheduler.ts'

interface SeparationDeps {
  scheduler: Scheduler
  model: ModelDescription
  config: { chunksInFlightMax: number }
  signal: AbortSignal
  log(message: string): void
  /** Takes the next planar samples of both outputs. */
  write(parts: Separation): Promise<void>
  /** From 0 to 1. */
  onProgress(progress: number): void
}

/**
 * Separates `mixture` and hands the results to `write` in order. At most `chunksInFlightMax` chunks
 * are decoded, in the model or waiting to be joined, whatever the length of the media.
 * @returns samples of the mixture
 * @throws ServiceError INVALID_PARAMETER for a span past the end; what decoding or the model throws
 */
export async function separateMixture(
  job: Job, mixture: Mixture, deps: SeparationDeps,
): Promise<number> {
  const { options } = job
  const plan = planChunks({
    sampleRate: mixture.sampleRate,
    channels: mixture.channels,
    chunkSecondsMax: options.max_chunk_duration,
    overlapSeconds: options.chunk_overlap,
    modelChunkSecondsMax: deps.model.chunkSecondsMax,
    modelOverlapSecondsMax: deps.model.overlapSecondsMax[options.acceleration],
  })
  const progress = createProgress(mixture, plan, deps.onProgress)
  const inFlight: Promise<{ chunk: MixtureChunk; separation: Separation }>[] = []
  const joined = { target: new Stitcher(plan), residual: new Stitcher(plan) }
  let samples = 0
  const settleFirst = async () => {
    const settled = await inFlight.shift()
    if (settled) await deps.write(join(joined, settled.chunk.startSample, settled.separation))
  }
  try {
    for await (const chunk of cutChunks(mixture.blocks(), mixture.channels, plan)) {
      samples = chunk.startSample + (chunk.channels[0]?.length ?? 0)
      const separated = separateChunk(job, chunk, mixture, { ...deps, onStep: progress.step })
      separated.catch(() => undefined) // awaited later, in order: until then it is not unhandled
      inFlight.push(separated)
      if (inFlight.length >= deps.config.chunksInFlightMax) await settleFirst()
    }
    refuseSpansPastEnd(options.spans, samples / mixture.sampleRate)
    while (inFlight.length > 0) await settleFirst()
  } finally {
    await Promise.allSettled(inFlight)
  }
  await deps.write({ target: joined.target.finish(), residual: joined.residual.finish() })
  deps.log(describeWork(job, samples, plan, mixture, deps.model))
  for (const line of optionsLeftOut(job, deps.model)) deps.log(line)
  return samples
}

function join(
  joined: { target: Stitcher; residual: Stitcher }, startSample: number, separation: Separation,
): Separation {
  return {
    target: joined.target.push(startSample, separation.target),
    residual: joined.residual.push(startSample, separation.residual),
  }
}

async function separateChunk(
  job: Job, chunk: MixtureChunk, { sampleRate }: Mixture,
  { scheduler, signal, onStep }: Pick<SeparationDeps, 'scheduler' | 'signal'> & { onStep(): void },
): Promise<{ chunk: MixtureChunk; separation: Separation }> {
  const { index, startSample, channels } = chunk
  const startSecond = startSample / sampleRate
  const seconds = (channels[0]?.length ?? 0) / sampleRate
  const request = {
    chunk: { channels, sampleRate },
    prompt: job.prompt,
    spans: chunkSpans(job.options.spans, startSecond, seconds),
    acceleration: job.options.acceleration,
    seed: chunkSeed(job.request_id, index),
  }
  const owner = { accountId: job.account_id, requestId: job.request_id }
  const separation = await scheduler.separate(request, owner, { signal, onStep })
  return { chunk, separation }
}

/**
 * The spans as seen from a chunk, in seconds from its start. Where the target sounds only
 * elsewhere, an empty span says so: no span at all would mean that nothing is known.
 */
export function chunkSpans(
  spans: readonly AudioSpan[], startSecond: number, seconds: number,
): Span[] {
  const within = (second: number) => Math.min(Math.max(second - startSecond, 0), seconds)
  const clipped = spans.map(({ start, end, include }) =>
    ({ start: within(start), end: within(end), include }))
  const touching = clipped.filter(({ start, end }) => end > start)
  const sounds = (list: readonly Span[]) => list.some(({ include }) => include)
  if (!sounds(spans) || sounds(touching)) return touching
  return [...touching, { start: 0, end: 0, include: true }]
}

/**
 * 32 bits that depend on the request and the chunk only, so that a retried job repeats its answer.
 */
function chunkSeed(requestId: string, index: number): number {
  return createHash('sha256').update(`${requestId}:${index}`).digest().readUInt32LE(0)
}

function refuseSpansPastEnd(spans: readonly AudioSpan[], seconds: number): void {
  const index = spans.findIndex((span) => span.start >= seconds)
  if (index < 0) return
  throw new ServiceError('INVALID_PARAMETER', {
    param: `input.spans[${index}].start`,
    message: `input.spans[${index}] starts at ${spans[index]?.start} s, but the media ends at ` +
      `${seconds.toFixed(3)} s; a span must begin before the end.`,
  })
}

/**
 * Counts steps against those that the container's duration lets expect; stays below 1 to the end.
 */
function createProgress(mixture: Mixture, plan: ChunkPlan, onProgress: (progress: number) => void) {
  const samples = Math.ceil((mixture.secondsEstimate ?? 0) * mixture.sampleRate)
  const expected = Math.max(1, chunkCount(samples, plan))
  let steps = 0
  return {
    step: () => {
      steps += 1
      onProgress(Math.min(0.99, steps / (expected + 1)))
    },
  }
}

function describeWork(
  { options }: Job, samples: number, plan: ChunkPlan, mixture: Mixture, model: ModelDescription,
): string {
  const chunks = chunkCount(samples, plan)
  const seconds = (count: number) => (count / mixture.sampleRate).toFixed(2)
  const cut = chunks === 1 ? 'one chunk' : `${chunks} chunks of ${seconds(plan.chunkSamples)} s ` +
    `overlapping by ${seconds(plan.overlapSamples)} s`
  return `Separated ${seconds(samples)} s with ${model.name} (${options.acceleration}) in ${cut}.`
}

/** What was asked for and this model can't do. */
function optionsLeftOut({ options }: Job, model: ModelDescription): string[] {
  const lines: string[] = []
  if (options.reranking_candidates > 1 && !model.givesCandidates) {
    lines.push(`${model.name} gives one answer whatever the seed, so one candidate was made.`)
  }
  if (options.predict_spans && options.spans.length === 0 && !model.predictsSpans) {
    lines.push(`${model.name} can't predict spans, so none were used.`)
  }
  return lines
}
