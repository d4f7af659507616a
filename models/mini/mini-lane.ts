/** A chunk and a prompt on their way through the mask network. */
import type { ChunkRequest, Expected, Head, HeadResult, Lane, Span } from '../model.ts'
import { applySpans } from '../lanes/span-gain.ts'
import { ENERGIES } from './batch-graph.ts'
import type { LaneOutput } from './batch-output.ts'
import { PATCH } from './config.ts'
import { hopAt, passOf, type Pass } from './lane-bucket.ts'
import { predictSpans } from './predict-spans.ts'
import type { MiniChunk, View } from './prepare-chunk.ts'
import { matchOf, presenceGain } from './presence.ts'
import { spanTokens, type TokenClock } from './span-tokens.ts'

/**
 * The steps of a lane, as the factor by which each misreads the sample rate. With longer frames
 * everything sounds higher and faster to the network, which then makes other errors.
 */
const ONE_PASS = [1]
const QUALITY_PASSES = [1, 7 / 8, 9 / 8]

/**
 * How far the tokens of each candidate are shifted, in eighths of a token. The order keeps the
 * first few far apart, however many there are.
 */
const CANDIDATE_EIGHTHS = [0, 4, 2, 6, 1, 5, 3, 7] as const

/** Speech is removed from the mixture only where it is at least this probable. */
const SPEECH_PROBABILITY_MIN = 0.9

/** A request with a prepared chunk. */
export type MiniRequest = ChunkRequest & { chunk: MiniChunk }

/** A head that a lane answers, and its index among the heads of its chunk. */
export interface MiniHead extends Head {
  index: number
}

/** Holds the samples, the embedding of the prompt, and the outputs of the steps so far. */
export class MiniLane implements Lane {
  readonly heads: readonly number[]
  /** The heads that ask for the same sound. They differ in how their results are shaped. */
  readonly asked: readonly MiniHead[]
  readonly frames: number
  readonly steps: number
  stepsDone = 0
  /** [embeddingDim]. */
  readonly embedding: Float32Array
  readonly #chunk: MiniChunk
  readonly #spans: readonly Span[]
  readonly #predictsSpans: boolean
  /** Whether speech is separated and the target is everything else. */
  readonly #isRest: boolean
  readonly #passes: readonly Pass[]
  /** One for each completed step. */
  readonly #outputs: LaneOutput[] = []

  /**
   * @param asked at least one head, all of one candidate
   * @param isRest whether `embedding` is that of speech and the target is what remains without it,
   *   as for a prompt that is near no known name: the network would mostly find a wrong sound for
   *   it
   */
  constructor(
    { chunk, spans, acceleration, predictSpans = false }: MiniRequest,
    asked: readonly MiniHead[],
    { embedding, isRest }: { embedding: Float32Array; isRest: boolean },
  ) {
    const [{ candidate = 0 }] = asked as readonly [MiniHead]
    this.asked = asked
    this.heads = asked.map(({ index }) => index)
    this.#chunk = chunk
    this.#spans = spans
    this.#predictsSpans = predictSpans && spans.length === 0
    this.#isRest = isRest
    this.embedding = embedding
    const tokenShift = CANDIDATE_EIGHTHS[candidate % CANDIDATE_EIGHTHS.length]! / 8
    this.#passes = (acceleration === 'quality' ? QUALITY_PASSES : ONE_PASS).map((pass) =>
      passOf(chunk.channels[0]!.length, hopAt(chunk.sampleRate * pass), tokenShift),
    )
    this.steps = this.#passes.length
    this.frames = Math.max(...this.#passes.map(({ tokens }) => tokens))
  }

  get channels(): readonly Float32Array[] {
    return this.#chunk.channels
  }

  /** Null if the network reads the mean of the channels. */
  get views(): readonly View[] | null {
    return this.#chunk.prepared.views
  }

  get rows(): number {
    return this.views?.length ?? 1
  }

  /** The pass of the next step. */
  get pass(): Pass {
    return this.#passes[this.stepsDone]!
  }

  /** Returns for each token whether a span covers it in the next step, [tokens · 2]. */
  spanTokens(): Float32Array {
    const spans = this.#isRest ? [] : this.#spans // the spans do not say where speech is
    return spanTokens(spans, this.#seconds, this.#clockOf(this.pass))
  }

  /** Completes a step; from then on the lane owns its output. */
  advance(output: LaneOutput): void {
    this.#outputs.push(output)
    this.stepsDone += 1
  }

  /**
   * Returns the target of each head, with the gain of its spans. Only this reads from the device,
   * once per batch.
   */
  results(): HeadResult[] {
    const sound = this.#readTarget()
    const { activity, expected, energy } = this.#readRecognised()
    const probability = activity.reduce((most, one) => Math.max(most, one), 0)
    if (this.#isRest) return this.#forEach(sound, (speech) => this.#restOf(speech, probability))
    const share = Math.min(1, energy / (this.#chunk.prepared.energy || 1))
    const match = matchOf(probability, share)
    const predictedSpans = this.#predictsSpans
      ? predictSpans(activity, this.#seconds, this.#clockOf(this.#passes[0]!))
      : undefined
    const isVouchedFor = this.#spans.some(({ include }) => include)
    return this.#forEach(sound, (target, { keepsLevel = false }) => {
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

  /** The last head gets the samples themselves, the heads before it get copies. */
  #forEach(
    sound: Float32Array[],
    resultOf: (target: Float32Array[], head: MiniHead) => HeadResult,
  ): HeadResult[] {
    const last = this.asked.length - 1
    return this.asked.map((head, i) =>
      resultOf(i < last ? sound.map((wave) => wave.slice()) : sound, head),
    )
  }

  /** The mixture without the speech. */
  #restOf(speech: Float32Array[], probability: number): HeadResult {
    if (probability < SPEECH_PROBABILITY_MIN) for (const wave of speech) wave.fill(0)
    const rest = this.#chunk.channels.map((mixture, i) => subtract(mixture, speech[i]!))
    applySpans(rest, this.#spans, this.#chunk.sampleRate)
    return { target: rest, score: probability, substitute: 'everything but speech' }
  }

  /** The mean of the targets of all steps. */
  #readTarget(): Float32Array[] {
    const [first, ...others] = this.#outputs
    const samples = this.channels[0]!.length
    const target = first!.takeTarget(samples)
    for (const output of others) {
      for (const [i, wave] of output.takeTarget(samples).entries()) add(target[i]!, wave)
    }
    if (others.length > 0) for (const wave of target) scale(wave, 1 / this.steps)
    return target
  }

  /**
   * Reads the activity of the target (0 to 1 for each token), the energies that its mask implies,
   * and its own energy. The activity is 0 in silence. Only the first step counts here: the others
   * misread the sample rate, which changes pitch and tempo. That helps to separate a sound, but not
   * to recognise it.
   */
  #readRecognised(): { activity: Float32Array; expected: Expected; energy: number } {
    const numbers = this.#outputs[0]!.recognised
    const isSilent = this.#chunk.prepared.energy === 0
    const logits = numbers.subarray(0, this.#passes[0]!.tokens)
    const [sound, others, energy] = numbers.subarray(-ENERGIES) as unknown as [
      number,
      number,
      number,
    ]
    return {
      activity: logits.map((logit) => (isSilent ? 0 : 1 / (1 + Math.exp(-logit)))),
      expected: { sound, others: Math.max(0, others) },
      energy,
    }
  }

  get #seconds(): number {
    return this.#chunk.channels[0]!.length / this.#chunk.sampleRate
  }

  #clockOf({ hop, shift, tokens }: Pass): TokenClock {
    const { sampleRate } = this.#chunk
    return { tokens, tokenSeconds: (PATCH * hop) / sampleRate, startSecond: -shift / sampleRate }
  }

  dispose(): void {
    for (const output of this.#outputs.splice(0)) output.release()
  }
}

function add(sum: Float32Array, wave: Float32Array): void {
  for (let i = 0; i < sum.length; i += 1) sum[i]! += wave[i]!
}

function scale(wave: Float32Array, gain: number): void {
  for (let i = 0; i < wave.length; i += 1) wave[i]! *= gain
}

function subtract(mixture: Float32Array, target: Float32Array): Float32Array {
  return mixture.map((sample, i) => sample - target[i]!)
}
