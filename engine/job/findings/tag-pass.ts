/**
 * Streams a mixture through the tagger, which returns a logit of every sound for every half second.
 */

import type { HeadResult } from '../../../models/model.ts'
import { melFraming, stepSamples } from '../../../models/tagger/mel.ts'
import { PIECE_STEPS, TAGGER, type TaggerConfig } from '../../../models/tagger/config.ts'
import type { LaneOwner, Scheduler } from '../../compute/scheduler.ts'
import type { ResamplerInThread, ResamplingThreads } from '../../media/resampling-threads.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { ChunkCutter, type MixtureChunk } from '../chunks.ts'
import type { Tags } from './tagged-file.ts'

/** How many pieces are in flight at once. */
const IN_FLIGHT_MAX = 2

/**
 * In hertz. The tagger hears nothing above 16 kHz, but at the highest rate a piece would take 16
 * times the memory that it takes at this one.
 */
const RATE_MAX = 48_000

interface TagPassDeps {
  scheduler: Pick<Scheduler, 'separate'>
  resampling: Pick<ResamplingThreads, 'open'>
  tagger: TaggerConfig
  /** Aborts everything in progress. */
  signal: AbortSignal
  /** Called when a piece has failed. */
  onFailed(error: unknown): void
  /** Stores pieces and has those of earlier attempts; absent if the job has no checkpoint. */
  checkpoint?: Checkpoint | undefined
}

interface Piece {
  firstStep: number
  tagged: Promise<HeadResult[]>
}

const entryName = (firstStep: number): string => `${TAGGER}/${firstStep}`

export class TagPass {
  readonly #owner: LaneOwner
  /** Sample rates of the mixture and of the pieces in hertz. */
  readonly #mixtureRate: number
  readonly #sampleRate: number
  readonly #deps: TagPassDeps
  readonly #toTagger: ResamplerInThread | null
  readonly #stepSamples: number
  readonly #cutter: ChunkCutter
  readonly #inFlight: Piece[] = []
  /** [steps · classes] of each piece, and its first step. */
  readonly #answers: { firstStep: number; logits: Float32Array }[] = []
  /** Length of the mixture so far. */
  #samples = 0

  /** @param mixtureRate hertz */
  constructor(owner: LaneOwner, mixtureRate: number, deps: TagPassDeps) {
    this.#owner = owner
    this.#mixtureRate = mixtureRate
    this.#sampleRate = Math.min(mixtureRate, RATE_MAX)
    this.#deps = deps
    const [from, to] = [mixtureRate, this.#sampleRate]
    this.#toTagger = from === to ? null : deps.resampling.open({ from, to, channels: 1 })
    this.#stepSamples = stepSamples(melFraming(this.#sampleRate))
    this.#cutter = new ChunkCutter(1, {
      chunkSamples: PIECE_STEPS * this.#stepSamples,
      overlapSamples: 2 * deps.tagger.contextSteps * this.#stepSamples,
      frameSamples: this.#stepSamples,
    })
  }

  /** Takes the next planar block without keeping it; resolves when there is room for another. */
  async push(block: readonly Float32Array[]): Promise<void> {
    this.#samples += block[0]?.length ?? 0
    const mean = [meanOf(block)]
    for (const part of (await this.#toTagger?.add(mean)) ?? [mean]) await this.#cut(part)
  }

  /** @returns what was heard in the whole mixture */
  async finish(): Promise<Tags> {
    for (const part of (await this.#toTagger?.finish()) ?? []) await this.#cut(part)
    for (const piece of this.#cutter.finish()) await this.#begin(piece)
    // Resampling may leave nothing of a mixture of a millisecond.
    if (this.#inFlight.length + this.#answers.length === 0) await this.#begin(oneSilentSample())
    while (this.#inFlight.length > 0) await this.#settleFirst()
    const width = this.#deps.tagger.classes.names.length
    const last = this.#answers.at(-1)
    const joined = new Float32Array(last ? last.firstStep * width + last.logits.length : 0)
    for (const { firstStep, logits } of this.#answers) {
      // The next piece repeats these steps with more context, so they are left to it.
      const skipped = firstStep === 0 ? 0 : this.#deps.tagger.contextSteps
      joined.set(logits.subarray(skipped * width), (firstStep + skipped) * width)
    }
    return {
      logits: joined,
      stepSeconds: this.#stepSamples / this.#sampleRate,
      seconds: this.#samples / this.#mixtureRate,
    }
  }

  /** Resolves when nothing is in flight, and frees what is held; never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#inFlight.map(({ tagged }) => tagged))
    await Promise.allSettled([this.#toTagger?.close()])
  }

  async #cut(part: Float32Array[]): Promise<void> {
    for (const piece of this.#cutter.add(part)) await this.#begin(piece)
  }

  async #begin(chunk: MixtureChunk): Promise<void> {
    const { checkpoint, onFailed } = this.#deps
    const firstStep = chunk.startSample / this.#stepSamples
    const tag = () => this.#tag(chunk)
    const tagged = checkpoint?.recall(entryName(firstStep), tag) ?? tag()
    tagged.catch(onFailed) // it is awaited later, in order
    this.#inFlight.push({ firstStep, tagged })
    if (this.#inFlight.length >= IN_FLIGHT_MAX) await this.#settleFirst()
  }

  #tag({ channels }: MixtureChunk): Promise<HeadResult[]> {
    const { scheduler, signal } = this.#deps
    const order = {
      model: TAGGER,
      request: { chunk: { channels, sampleRate: this.#sampleRate }, ...WHOLE },
      heads: [{ prompt: '', seed: 0 }],
    }
    return scheduler.separate(order, this.#owner, { signal, onStep: () => {} })
  }

  async #settleFirst(): Promise<void> {
    const { firstStep, tagged } = this.#inFlight[0]!
    const results = await tagged
    await this.#deps.checkpoint?.keep(entryName(firstStep), results)
    const [result] = results
    this.#inFlight.shift()
    this.#answers.push({ firstStep, logits: result!.tags! })
  }
}

const oneSilentSample = (): MixtureChunk => ({
  index: 0,
  startSample: 0,
  sharedSamples: 0,
  channels: [new Float32Array(1)],
})

const WHOLE = { spans: [], acceleration: 'fast' } as const

function meanOf(channels: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(channels[0]?.length ?? 0)
  for (const wave of channels) {
    for (let i = 0; i < mean.length; i += 1) mean[i]! += wave[i]! / channels.length
  }
  return mean
}
