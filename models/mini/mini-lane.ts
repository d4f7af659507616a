/** Chunks with a prompt on their way through the mask network. */
import type { ChunkRequest, Expected, Head, HeadResult, Lane, Span } from '../model.ts'
import { applySpans } from '../span-gain.ts'
import { tf, upload, type Tensor } from '../tensor.ts'
import { PATCH } from './config.ts'
import { inputOf, targetsOf, type LanePlan } from './lane-graphs.ts'
import { hopAt, isLaidOutAlike, layOut, roomOf, type LaneRoom, type Pass } from './lane-room.ts'
import type { MaskOutput } from './network/network.ts'
import { predictSpans } from './predict-spans.ts'
import type { MiniChunk, View } from './prepare-chunk.ts'
import { matchOf, presenceGain } from './presence.ts'
import { spanTokens } from './span-tokens.ts'
import type { TokenClock } from './token-clock.ts'

/**
 * The steps of a lane: what its mixture's rate is taken for, relative to the true one. With longer
 * frames everything sounds higher and faster to the network, which then errs in other ways.
 */
const ONE_PASS = [1]
const QUALITY_PASSES = [1, 7 / 8, 9 / 8]

/** Shift of each candidate's tokens, in eighths of a token. Any first few are far apart. */
const CANDIDATE_EIGHTHS = [0, 4, 2, 6, 1, 5, 3, 7] as const

/** Speech is taken from the mixture where it is this probable; else the mixture stays whole. */
const SPEECH_PROBABILITY_MIN = 0.9

/** A lane's state after a step, see `targetsOf`. */
export type Advance = { target: Tensor; recognised?: Tensor }

/** A request whose chunk is prepared. */
export type MiniRequest = ChunkRequest & { chunk: MiniChunk }

/** A head that a lane answers, and its place among those of its chunk. */
export interface MiniHead extends Head {
  index: number
}

/** Holds the samples, the prompt's embedding and what the steps found so far. */
export class MiniLane implements Lane {
  readonly heads: readonly number[]
  /** The heads that ask for the same sound, which differ in what is made of it. */
  readonly asked: readonly MiniHead[]
  readonly frames: number
  readonly steps: number
  stepsDone = 0
  /** [1, embeddingDim]. */
  readonly embedding: Tensor
  readonly #chunk: MiniChunk
  readonly #spans: readonly Span[]
  readonly #predictsSpans: boolean
  /** True if speech is separated, and the target is what it leaves. */
  readonly #isRest: boolean
  readonly #room: LaneRoom
  /** [channels, length], as the room has them. */
  readonly #samples: Tensor
  /** [channels, samples], the steps' targets so far, each at its share; null: none was made. */
  #target: Tensor | null = null
  /** Spectrum of the samples at the coming step, if it is the network's input. */
  #spectrum: Tensor | null = null
  #recognised: Tensor | null = null

  /**
   * The lane owns `embedding` from here on.
   * @param asked heads of one candidate, at least one
   * @param isRest `embedding` is that of speech, and the target is what speech leaves: of a prompt
   *   that no name is near the nearest one would mostly find another sound (`mini-nameless`)
   */
  constructor(
    { chunk, spans, acceleration, predictSpans = false }: MiniRequest,
    asked: readonly MiniHead[],
    { embedding, isRest }: { embedding: Tensor; isRest: boolean },
  ) {
    const [{ candidate = 0 }] = asked as readonly [MiniHead]
    this.asked = asked
    this.heads = asked.map(({ index }) => index)
    this.#chunk = chunk
    this.#spans = spans
    this.#predictsSpans = predictSpans && spans.length === 0
    this.#isRest = isRest
    this.embedding = embedding
    const passes = acceleration === 'quality' ? QUALITY_PASSES : ONE_PASS
    const hops = passes.map((pass) => hopAt(chunk.sampleRate * pass))
    const tokenShift = CANDIDATE_EIGHTHS[candidate % CANDIDATE_EIGHTHS.length]! / 8
    this.#room = roomOf(chunk.channels[0]!.length, hops, tokenShift)
    const { length, passes: steps } = this.#room
    const { room, laidOut } = chunk.prepared
    const isReady = isLaidOutAlike(room, this.#room)
    const wave = isReady ? laidOut : layOut(chunk.channels, this.#room)
    this.#samples = upload(wave, [chunk.channels.length, length])
    this.steps = steps.length
    this.frames = Math.max(...steps.map(({ tokens }) => tokens))
  }

  /** Null: the network reads the channels' mean. */
  get views(): readonly View[] | null {
    return this.#chunk.prepared.views
  }

  get rows(): number {
    return this.views?.length ?? 1
  }

  /** The coming step. */
  get pass(): Pass {
    return this.#room.passes[this.stepsDone]!
  }

  /** Tokens that the coming step has room for. */
  get roomTokens(): number {
    return this.pass.framing.frames / PATCH
  }

  get #plan(): LanePlan {
    const { lead, targetSamples } = this.#room
    return { framing: this.pass.framing, lead, targetSamples, views: this.views }
  }

  /**
   * Lanes may share graphs at their coming step where it is the same. Null: this one shares none.
   */
  get likeness(): string | null {
    const channels = this.#chunk.channels.length
    if (channels > 1 && !this.views) return null
    return JSON.stringify([this.#plan, this.#room.length, channels, this.stepsDone, this.steps])
  }

  /** Counts of lanes at their coming step, as `LaneTensors` has them. */
  static counts(lanes: readonly MiniLane[]): Tensor {
    const counts = lanes.flatMap((lane) => [lane.#room.samples, lane.pass.frames])
    return upload(Float32Array.from(counts), [lanes.length, 2])
  }

  /**
   * Input of the network at the coming step of lanes that are alike: [lanes · rows, tokens, PATCH,
   * 1024], of all in the room.
   */
  static features(lanes: readonly MiniLane[], counts: Tensor, inputRms: number): Tensor {
    const first = lanes[0]!
    const { features, spectrum } = inputOf(
      { ...first.#plan, inputRms },
      { samples: MiniLane.#samplesOf(lanes), counts },
    )
    first.#keep(spectrum ?? null)
    return features
  }

  /** Which tokens the spans say something about at the coming step, [tokens · 2]. */
  spanTokens(): Float32Array {
    const known = this.#isRest ? [] : this.#spans // they do not say where speech is
    return spanTokens(known, this.#seconds, this.#clockOf(this.pass))
  }

  /**
   * Returns whether both lanes have the same input at their coming step: they were opened together.
   */
  sharesEncoding(other: MiniLane): boolean {
    const { hop, shift } = this.pass.framing
    const theirs = other.pass.framing
    return hop === theirs.hop && shift === theirs.shift && this.#chunk === other.#chunk
  }

  /**
   * Applies the network's answer to all in the rooms of lanes that are alike: mask logits are
   * [lanes · rows, frames, 1025]. Failures come before any lane moves on.
   */
  static advances(lanes: readonly MiniLane[], counts: Tensor, answer: MaskOutput): Advance[] {
    const own = lanes[0]!
    const { steps } = own
    const { targets, recognised } = targetsOf(
      { ...own.#plan, steps },
      {
        samples: MiniLane.#samplesOf(lanes),
        counts,
        spectrum: lanes.length === 1 ? own.#spectrum : null,
        targets: own.#target && lanes.map((lane) => lane.#target!),
        ...answer,
      },
    )
    return targets.map((target, i) => ({
      target,
      ...(recognised && { recognised: recognised[i]! }),
    }))
  }

  /** Ends a step; the lane owns what it is given from here on. */
  advance({ target, recognised }: Advance): void {
    this.#target?.dispose()
    this.#target = tf.keep(target)
    if (recognised) this.#recognised = tf.keep(recognised)
    this.#keep(null)
    this.stepsDone += 1
  }

  #keep(spectrum: Tensor | null): void {
    this.#spectrum?.dispose()
    this.#spectrum = spectrum && tf.keep(spectrum)
  }

  /** The target of each head, shaped by the spans: only here the device is read. */
  results(): HeadResult[] {
    const found = this.#readTarget()
    const { activity, expected, energy } = this.#readRecognised()
    const probability = activity.reduce((most, one) => Math.max(most, one), 0)
    if (this.#isRest) return this.#forEach(found, (speech) => this.#restOf(speech, probability))
    const share = Math.min(1, energy / (this.#chunk.prepared.energy || 1))
    const match = matchOf(probability, share)
    const predictedSpans = this.#predictsSpans
      ? predictSpans(activity, this.#seconds, this.#clockOf(this.#room.passes[0]!))
      : undefined
    const isVouchedFor = this.#spans.some(({ include }) => include)
    return this.#forEach(found, (target, { keepsLevel = false }) => {
      const gain = isVouchedFor || keepsLevel ? 1 : presenceGain(match)
      if (gain !== 1) for (const wave of target) scale(wave, gain)
      applySpans(target, predictedSpans ?? this.#spans, this.#chunk.sampleRate)
      return {
        target,
        score: match,
        match,
        expected,
        presenceGain: gain,
        ...(predictedSpans && { predictedSpans }),
      }
    })
  }

  /** The last head has the samples themselves, those before it have copies. */
  #forEach(
    found: Float32Array[],
    resultOf: (target: Float32Array[], head: MiniHead) => HeadResult,
  ): HeadResult[] {
    const last = this.asked.length - 1
    return this.asked.map((head, i) =>
      resultOf(i < last ? found.map((wave) => wave.slice()) : found, head),
    )
  }

  /** The mixture without speech. */
  #restOf(speech: Float32Array[], probability: number): HeadResult {
    if (probability < SPEECH_PROBABILITY_MIN) for (const wave of speech) wave.fill(0)
    const rest = this.#chunk.channels.map((mixture, i) => subtract(mixture, speech[i]!))
    applySpans(rest, this.#spans, this.#chunk.sampleRate)
    return { target: rest, score: probability, substitute: 'everything but speech' }
  }

  /** The channels lie in one memory. */
  #readTarget(): Float32Array[] {
    const { channels } = this.#chunk
    const samples = channels[0]!.length
    const target = this.#target!
    const stride = target.shape[1]!
    const mean = target.dataSync<'float32'>()
    return channels.map((_, i) => mean.subarray(i * stride, i * stride + samples))
  }

  /**
   * Reads the activity of the target, from 0 to 1 for each token, what its mask expects, and its
   * energy. In silence the activity is 0.
   */
  #readRecognised(): { activity: Float32Array; expected: Expected; energy: number } {
    const numbers = this.#recognised!.dataSync<'float32'>()
    const isSilent = this.#chunk.prepared.energy === 0
    const logits = numbers.subarray(0, this.#room.passes[0]!.tokens)
    return {
      activity: logits.map((logit) => (isSilent ? 0 : 1 / (1 + Math.exp(-logit)))),
      expected: { sound: numbers.at(-3)!, others: Math.max(0, numbers.at(-2)!) },
      energy: numbers.at(-1)!,
    }
  }

  get #seconds(): number {
    return this.#chunk.channels[0]!.length / this.#chunk.sampleRate
  }

  #clockOf({ framing: { hop, shift }, tokens }: Pass): TokenClock {
    const { sampleRate } = this.#chunk
    return { tokens, tokenSeconds: (PATCH * hop) / sampleRate, startSecond: -shift / sampleRate }
  }

  static #samplesOf(lanes: readonly MiniLane[]): Tensor[] {
    return lanes.map((lane) => lane.#samples)
  }

  dispose(): void {
    this.#keep(null)
    tf.dispose([this.embedding, this.#samples])
    this.#target?.dispose()
    this.#recognised?.dispose()
  }
}

function scale(wave: Float32Array, gain: number): void {
  for (let i = 0; i < wave.length; i += 1) wave[i]! *= gain
}

function subtract(mixture: Float32Array, target: Float32Array): Float32Array {
  return mixture.map((sample, i) => sample - target[i]!)
}
