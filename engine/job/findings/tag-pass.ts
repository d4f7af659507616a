/**
 * Streams a mixture through the tagger, which returns a logit of every sound for every half second.
 */

import type { HeadResult } from '../../../models/model.ts'
import { melFraming, stepSamples } from '../../../models/tagger/mel.ts'
import { PIECE_STEPS, TAGGER, type TaggerConfig } from '../../../models/tagger/config.ts'
import type { LaneOwner, Scheduler } from '../../compute/scheduler.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { ChunkCutter, type MixtureChunk } from '../chunks.ts'
import type { Tags } from './tagged-file.ts'

/** How many pieces are in flight at once. */
const IN_FLIGHT_MAX = 2

interface TagPassDeps {
  scheduler: Pick<Scheduler, 'separate'>
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
  /** Hertz. */
  readonly #sampleRate: number
  readonly #deps: TagPassDeps
  readonly #stepSamples: number
  readonly #cutter: ChunkCutter
  readonly #inFlight: Piece[] = []
  /** [steps · classes] of each piece, and its first step. */
  readonly #answers: { firstStep: number; logits: Float32Array }[] = []
  #samples = 0

  constructor(owner: LaneOwner, sampleRate: number, deps: TagPassDeps) {
    this.#owner = owner
    this.#sampleRate = sampleRate
    this.#deps = deps
    this.#stepSamples = stepSamples(melFraming(sampleRate))
    this.#cutter = new ChunkCutter(1, {
      chunkSamples: PIECE_STEPS * this.#stepSamples,
      overlapSamples: 2 * deps.tagger.contextSteps * this.#stepSamples,
      frameSamples: this.#stepSamples,
    })
  }

  /** Takes the next planar block without keeping it; resolves when there is room for another. */
  async push(block: readonly Float32Array[]): Promise<void> {
    this.#samples += block[0]?.length ?? 0
    for (const piece of this.#cutter.add([meanOf(block)])) await this.#begin(piece)
  }

  /** @returns what was heard in the whole mixture */
  async finish(): Promise<Tags> {
    for (const piece of this.#cutter.finish()) await this.#begin(piece)
    while (this.#inFlight.length > 0) await this.#settleFirst()
    const width = this.#deps.tagger.classes.names.length
    const last = this.#answers.at(-1)
    const joined = new Float32Array(last ? last.firstStep * width + last.logits.length : 0)
    for (const { firstStep, logits } of this.#answers) {
      // The next piece repeats these steps with more context, so they are left to it.
      const skipped = firstStep === 0 ? 0 : this.#deps.tagger.contextSteps
      joined.set(logits.subarray(skipped * width), (firstStep + skipped) * width)
    }
    const rate = this.#sampleRate
    return { logits: joined, stepSeconds: this.#stepSamples / rate, seconds: this.#samples / rate }
  }

  /** Resolves when nothing is in flight; never rejects. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#inFlight.map(({ tagged }) => tagged))
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

const WHOLE = { spans: [], acceleration: 'fast' } as const

function meanOf(channels: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(channels[0]?.length ?? 0)
  for (const wave of channels) {
    for (let i = 0; i < mean.length; i += 1) mean[i]! += wave[i]! / channels.length
  }
  return mean
}
