/**
 * Streams a mixture through one model: resamples it to the model's rate, cuts it into overlapping
 * chunks, separates and joins them, and resamples the result back. Memory is bounded by the chunks
 * in flight, however long the media is.
 */

import type { Level } from '../../../models/lanes/level.ts'
import type { ModelDescription, OverlapState } from '../../../models/model.ts'
import type { Job } from '../../../shared/messages.ts'
import type { ResamplerInThread, ResamplingThreads } from '../../media/resampling-threads.ts'
import type { CandidateRanking } from './candidates.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import {
  ChunkCutter,
  chunkCount,
  createJoiner,
  planChunks,
  SampleQueue,
  type ChunkJoiner,
  type ChunkPlan,
  type MixtureChunk,
} from '../chunks.ts'
import type { ChunkWork } from '../reports/job-log.ts'
import { headsAtOnce, separateChunk, type ChunkDeps, type ModelQuestion } from './separate-chunk.ts'

export interface PassDeps extends Pick<ChunkDeps, 'scheduler' | 'signal' | 'spans' | 'passes'> {
  resampling: Pick<ResamplingThreads, 'open'>
  config: { chunksInFlightMax: number }
  onProgress(): void
  /** Called when a chunk fails; the results of the others are useless then. */
  onFailed(error: unknown): void
  /** Stores chunks and has those of earlier attempts; absent if the job has no checkpoint. */
  checkpoint?: Checkpoint | undefined
}

interface Sound {
  /** Sample rate of the mixture in hertz. */
  sampleRate: number
  channels: number
  /** The channels' loudspeakers; 0 if unknown. */
  channelMask: bigint
  /** Length in seconds as known before decoding; 0 if unknown. */
  secondsExpected: number
  /** Levels of the whole mixture, if a model needs them. */
  levels?: readonly Level[] | undefined
}

interface ChunkInFlight {
  chunk: MixtureChunk
  samples: number
  separated: Promise<CandidateRanking[]>
}

export interface PromptSound extends ModelQuestion {
  /** Whether the prompt asks for the sound to be removed. */
  isUnwanted: boolean
}

export type PassPrompt = readonly PromptSound[]

export class ModelPass {
  readonly model: ModelDescription
  readonly prompts: readonly PassPrompt[]
  readonly plan: ChunkPlan
  /** Sample rate of the chunks in hertz. */
  readonly sampleRate: number
  readonly #channelMask: bigint
  readonly #levels: readonly Level[] | undefined
  /** Results by prompt, sound and chunk. */
  readonly work: ChunkWork[][][]
  readonly #job: Job
  readonly #deps: PassDeps
  readonly #cutter: ChunkCutter
  readonly #toModel: ResamplerInThread | null
  readonly #inFlightMax: number
  readonly #candidates: number
  /** How many heads each chunk has. */
  readonly #heads: number
  readonly #stepsExpected: number
  readonly #outputs: readonly Output[]
  readonly #inFlight: ChunkInFlight[] = []
  #overlapStates: readonly (OverlapState | undefined)[] = []
  #steps = 0
  #samples = 0

  constructor(
    job: Job,
    { model, prompts }: { model: ModelDescription; prompts: readonly PassPrompt[] },
    { sampleRate, channels, channelMask, secondsExpected, levels }: Sound,
    deps: PassDeps,
  ) {
    const { options } = job
    this.#job = job
    this.#deps = deps
    this.model = model
    this.prompts = prompts
    this.work = prompts.map((sounds) => sounds.map(() => []))
    this.sampleRate = model.sampleRate ?? sampleRate
    this.#channelMask = channelMask
    this.#levels = model.needsLevels ? levels : undefined
    this.plan = planChunks({
      sampleRate: this.sampleRate,
      channels,
      chunkSecondsMax: options.max_chunk_duration,
      overlapSeconds: options.chunk_overlap,
      modelChunkSecondsMax: model.chunkSecondsMax,
      modelOverlapSecondsMax: model.overlapSecondsMax[options.acceleration],
      frameSamples: model.frameSamples,
      fixedChunks: model.fixedChunks,
    })
    this.#candidates = model.givesCandidates ? options.reranking_candidates : 1
    this.#heads = prompts.flat().length * this.#candidates
    const atOnce = headsAtOnce(this.plan.chunkSamples * channels, deps.passes)
    const chunksAtOnce = Math.floor(atOnce / this.#heads)
    this.#inFlightMax = model.needsPreviousChunk
      ? 1
      : Math.max(1, Math.min(deps.config.chunksInFlightMax, chunksAtOnce))
    const samplesExpected = Math.ceil(secondsExpected * this.sampleRate)
    this.#stepsExpected = this.#heads * Math.max(1, chunkCount(samplesExpected, this.plan))
    this.#cutter = new ChunkCutter(channels, this.plan)
    const [from, to] = [sampleRate, this.sampleRate]
    const resample = (rates: { from: number; to: number }) =>
      from === to ? null : deps.resampling.open({ ...rates, channels })
    this.#toModel = resample({ from, to })
    this.#outputs = prompts
      .flat()
      .map(
        () =>
          new Output(
            createJoiner(model.joining, this.plan),
            resample({ from: to, to: from }),
            channels,
          ),
      )
  }

  /** How many chunks the mixture has so far. */
  get chunks(): number {
    return chunkCount(this.#samples, this.plan)
  }

  /** How many samples the mixture has so far, at the model's rate. */
  get samples(): number {
    return this.#samples
  }

  /** From 0 to 1; it only reaches 1 at the end. */
  get progress(): number {
    return this.#steps / (this.#stepsExpected + 1)
  }

  /** Counts the chunks of an earlier attempt as separated. */
  resume(): void {
    const chunks = this.#deps.checkpoint?.count(`${this.model.name}/`) ?? 0
    this.#steps = Math.min(this.#stepsExpected, this.#heads * chunks)
  }

  /** Takes the next planar block, which is kept; resolves when there is room for another. */
  async push(block: Float32Array[]): Promise<void> {
    for (const part of (await this.#toModel?.add(block)) ?? [block]) await this.#cut(part)
  }

  /** Resolves when everything is separated. */
  async finish(): Promise<void> {
    for (const part of (await this.#toModel?.finish()) ?? []) await this.#cut(part)
    for (const chunk of this.#cutter.finish()) this.#begin(chunk)
    while (this.#inFlight.length > 0) await this.#settleFirst()
    for (const output of this.#outputs) await output.finish()
  }

  /** Resolves when nothing is in progress, and frees what is held; never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#inFlight.map(({ separated }) => separated))
    const open = [this.#toModel ?? [], this.#outputs].flat()
    await Promise.allSettled(open.map((resource) => resource.close()))
  }

  /** How many samples every sound has so far. */
  get ready(): number {
    return Math.min(...this.#outputs.map(({ end }) => end))
  }

  /**
   * Returns [sounds][channels][samples] of all prompts from `start` on, at the mixture's rate, with
   * zeros after the end.
   */
  read(start: number, samples: number): Float32Array[][] {
    return this.#outputs.map((output) => output.read(start, samples))
  }

  async #cut(part: Float32Array[]): Promise<void> {
    for (const chunk of this.#cutter.add(part)) {
      this.#begin(chunk)
      if (this.#inFlight.length >= this.#inFlightMax) await this.#settleFirst()
    }
  }

  #begin(chunk: MixtureChunk): void {
    const samples = chunk.channels[0]?.length ?? 0
    this.#samples = chunk.startSample + samples
    const { checkpoint } = this.#deps
    const separate = () => this.#separate(chunk)
    const separated = checkpoint?.recall(this.#entryName(chunk), separate) ?? separate()
    separated.catch(this.#deps.onFailed) // it is awaited later, in order
    this.#inFlight.push({ chunk, samples, separated })
  }

  #separate(chunk: MixtureChunk): Promise<CandidateRanking[]> {
    return separateChunk(this.#job, chunk, this.prompts.flat(), {
      ...this.#deps,
      model: this.model,
      candidates: this.#candidates,
      sampleRate: this.sampleRate,
      channelMask: this.#channelMask,
      levels: this.#levels,
      overlapStates: this.#overlapStates,
      onStep: (share) => {
        this.#steps = Math.min(this.#stepsExpected, this.#steps + share)
        this.#deps.onProgress()
      },
    })
  }

  #entryName({ index }: MixtureChunk): string {
    return `${this.model.name}/${index}`
  }

  async #settleFirst(): Promise<void> {
    const { chunk, samples, separated } = this.#inFlight[0]!
    const kept = await separated
    await this.#deps.checkpoint?.keep(this.#entryName(chunk), kept) // joining modifies it
    this.#inFlight.shift()
    this.#overlapStates = kept.map(({ best }) => best.overlapState)
    const work = this.work.flat()
    for (const [i, { scores, chosen, best }] of kept.entries()) {
      const { target, overlapState: _, score: __, ...finding } = best
      work[i]!.push({
        startSecond: chunk.startSample / this.sampleRate,
        endSecond: (chunk.startSample + samples) / this.sampleRate,
        scores,
        chosen,
        ...finding,
      })
      await this.#outputs[i]!.push(chunk.startSample, target)
    }
  }
}

/** The output for one sound: its chunks joined, and resampled to the mixture's rate. */
class Output {
  readonly #joiner: ChunkJoiner
  readonly #toMixture: ResamplerInThread | null
  readonly #queue: SampleQueue

  constructor(joiner: ChunkJoiner, toMixture: ResamplerInThread | null, channels: number) {
    this.#joiner = joiner
    this.#toMixture = toMixture
    this.#queue = new SampleQueue(channels)
  }

  async push(startSample: number, target: Float32Array[]): Promise<void> {
    await this.#add(this.#joiner.push(startSample, target))
  }

  async finish(): Promise<void> {
    await this.#add(this.#joiner.finish())
    for (const block of (await this.#toMixture?.finish()) ?? []) this.#queue.push(block)
  }

  async close(): Promise<void> {
    await this.#toMixture?.close()
  }

  /** How many samples there are so far. */
  get end(): number {
    return this.#queue.startSample + this.#queue.length
  }

  /** Returns samples and drops them. */
  read(start: number, samples: number): Float32Array[] {
    return this.#queue.take(start, samples)
  }

  async #add(joined: Float32Array[]): Promise<void> {
    for (const block of (await this.#toMixture?.add(joined)) ?? [joined]) this.#queue.push(block)
  }
}
