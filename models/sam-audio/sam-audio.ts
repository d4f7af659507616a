/** Meta's SAM-Audio: generative separation by flow matching. See `card.md`. */
import { join } from 'node:path'
import type { Precision } from '../tensorflow/precision.ts'
import {
  assertChunk,
  type Chunk,
  type ChunkRequest,
  type Head,
  type HeadResult,
  type Lane,
  type Model,
  type ModelDescription,
  type OverlapState,
  type Span,
} from '../model.ts'
import { modelPrompt } from '../text/prompt.ts'
import { LruCache } from '../lru-cache.ts'
import { zeroIfDamaged } from '../lanes/level.ts'
import { placeTarget } from '../lanes/place-target.ts'
import { native, tf, type Tensor } from '../tensorflow/tensor.ts'
import { sha256Of } from '../checkpoint/sha256.ts'
import { weightFiles, Weights } from '../checkpoint/weights.ts'
import { anchorTokens, type FrameClock } from './spans/anchors.ts'
import { decodeSlice, decodingSlices } from './codec/codec.ts'
import { hopOf, readConfig, TOKENS_MAX, type SamAudioConfig } from './config.ts'
import { Encoding } from './chunk-encoding.ts'
import { stepFlows, type Flow } from './flow/flow.ts'
import { findCheckpoint, findParts, unusedFolders } from './checkpoint-folders.ts'
import { loadJudge, type Judge } from './judge/judge.ts'
import { loadNetwork, type Network } from './network.ts'
import { noiseFrames } from './flow/noise.ts'
import { timesOf } from './flow/ode.ts'
import { STEPS, SamAudioLane, type NextState, type LanePlan } from './sam-audio-lane.ts'
import { loadSpanPredictor, type SpanPredictor } from './spans/span-predictor.ts'
import { loadTextEncoder, type TextEncoder } from './text/text-encoder.ts'
import { tabulateEmbedding, type EmbedTime } from './flow/time-embedding.ts'
import { previousOverlap } from './flow/overlap-state.ts'

const PROMPTS_REMEMBERED_MAX = 256

const CHUNK_SECONDS_MAX = 60
const OVERLAP_SECONDS_MAX = 5

/**
 * @param folder holds the model's `config.json` and checkpoint, directly or one folder below. The
 *   folder of the text encoder is inside or next to it, as are those of the span predictor and the
 *   judge, if present
 * @param precision of the products in the flow transformer's layers, the judge and the span
 *   predictor; codec and text encoder use float32
 * @throws Error naming what is missing, misshapen or unread
 */
export async function loadSamAudio(
  folder: string,
  precision: Precision = 'float32',
): Promise<Model> {
  const parts = await findParts(folder)
  if (!parts.model) throw new Error(`${folder}: no config.json of a SAM-Audio model is there`)
  if (!parts.text) throw new Error(`${folder}: no folder of its text encoder (T5) is there`)
  const config = await readConfig(join(parts.model, 'config.json'))
  const checkpoint = await findCheckpoint(parts.model)
  const { network, parameters } = Weights.read(checkpoint, (weights) => ({
    network: loadNetwork(weights, config, precision),
    parameters: weights.parameters,
  }))
  const textEncoder = await loadTextEncoder(parts.text, TOKENS_MAX)
  const spanPredictor = parts.spans ? await loadSpanPredictor(parts.spans, precision) : null
  const judge = parts.judge ? await loadJudge(parts.judge, precision) : null
  const description = {
    ...describe(config),
    predictsSpans: spanPredictor !== null,
    precision,
    parameters,
    weightsSha256: native.binding.givesShapesAlone
      ? ''
      : await sha256Of(...weightFiles(checkpoint)),
  }
  const warnings = await unusedFolders(folder, parts)
  return new SamAudio(description, warnings, { config, network, textEncoder, spanPredictor, judge })
}

function describe({ codec, transformer }: SamAudioConfig) {
  const hop = hopOf(codec)
  const framesPerSecond = codec.sampleRate / hop
  const passes = (steps: number) => `${steps} midpoint steps, each of two evaluations`
  return {
    name: 'sam-audio',
    summary: "Meta's SAM-Audio: generative separation of any described sound.",
    answers: 'text' as const,
    stems: [],
    framesPerSecond,
    framesOnCpu: 4_096,
    sampleRate: codec.sampleRate,
    frameSamples: hop,
    chunkSecondsMax: Math.min(CHUNK_SECONDS_MAX, transformer.positionsMax / framesPerSecond),
    fixedChunks: null,
    joining: { kind: 'seam' as const },
    overlapSecondsMax: {
      fast: OVERLAP_SECONDS_MAX,
      balanced: OVERLAP_SECONDS_MAX,
      quality: OVERLAP_SECONDS_MAX,
    },
    passes: {
      fast: passes(STEPS.fast),
      balanced: passes(STEPS.balanced),
      quality: passes(STEPS.quality),
    },
    needsPreviousChunk: true,
    givesCandidates: true,
  }
}

interface SamAudioParts {
  config: SamAudioConfig
  network: Network
  textEncoder: TextEncoder
  spanPredictor: SpanPredictor | null
  judge: Judge | null
}

class SamAudio implements Model {
  readonly description: ModelDescription
  readonly warnings: readonly string[]
  readonly #parts: SamAudioParts
  readonly #embedTime: EmbedTime
  readonly #texts = new LruCache<Tensor>(PROMPTS_REMEMBERED_MAX, (text) => text.dispose())

  constructor(description: ModelDescription, warnings: readonly string[], parts: SamAudioParts) {
    this.description = description
    this.warnings = warnings
    this.#parts = parts
    const { embedTime } = parts.network.velocity.transformer
    this.#embedTime = tabulateEmbedding(embedTime, timesOf(Object.values(STEPS)))
  }

  open(request: ChunkRequest, heads: readonly Head[]): Lane[] {
    const { chunk, ...kept } = request // large data is not kept
    const channels = this.#checkChunk(chunk)
    const mixture = meanOf(channels)
    const { codec } = this.#parts.config
    const encoding = new Encoding(this.#parts.network.codec.encoder, codec, mixture)
    const lanes: SamAudioLane[] = []
    try {
      for (const [index, { overlapState, ...head }] of heads.entries()) {
        const lane = new SamAudioLane({
          index,
          request: { ...kept, ...head, prompt: modelPrompt(head.prompt) },
          channels,
          mixture,
          encoding,
          hop: this.#clock.hop,
          previous: this.#previousOverlap(request, overlapState, mixture.length),
          slices: decodingSlices(this.#parts.network.codec.decoder, encoding.frames),
        })
        lanes.push(lane)
      }
    } catch (error) {
      for (const lane of lanes) lane.dispose()
      throw error
    }
    return lanes
  }

  step(lanes: readonly Lane[]): void {
    const all = lanes.map(ownLane)
    const encoding = all.filter(({ leftToEncode }) => leftToEncode !== undefined)
    const flowing = all.filter(({ stride }) => stride !== undefined)
    const decoding = all.filter(
      ({ leftToEncode, stride }) => leftToEncode === undefined && stride === undefined,
    )
    // Anything that may fail comes before any lane advances, so that the step can be retried.
    for (const lane of encoding) this.#encode(lane)
    const waves = decoding.map((lane) => this.#decode(lane))
    const states = flowing.length > 0 ? this.#flow(flowing) : []
    for (const lane of encoding) lane.endEncodingStep()
    for (const [i, lane] of flowing.entries()) lane.advance(states[i]!)
    for (const [i, lane] of decoding.entries()) lane.append(...waves[i]!)
  }

  close(lane: Lane): HeadResult[] {
    const { stepsDone, steps } = lane
    if (stepsDone < steps) throw new Error(`The lane has done ${stepsDone} of ${steps} steps`)
    const {
      plan: {
        channels,
        mixture,
        request: { prompt, candidates = 1 },
      },
      predictedSpans,
    } = ownLane(lane)
    const [target, residual] = [ownLane(lane).wave('target'), ownLane(lane).wave('residual')]
    const overlapState = ownLane(lane).overlapState()
    this.discard(lane)
    const isRanked = candidates > 1
    const verdict = isRanked ? this.#judge(mixture, target, prompt) : undefined
    const score = verdict ?? consistency(mixture, target, residual)
    return [
      {
        target: placeTarget(channels, target),
        score,
        ...(predictedSpans && { predictedSpans }),
        ...(overlapState && { overlapState }),
      },
    ]
  }

  discard(lane: Lane): void {
    ownLane(lane).dispose()
  }

  /** Returns the constants of a flow and its initial noise. */
  #flowOf({ prompt, spans, seed, startSample = 0 }: LanePlan['request'], features: Tensor): Flow {
    const { conditions } = this.#parts.network.velocity
    const frames = features.shape[1]!
    const tokens = anchorTokens(spans, frames, this.#clock)
    const channels = this.#channels
    const firstFrame = Math.round(startSample / this.#clock.hop)
    const noise = noiseFrames(seed, firstFrame, frames, channels)
    return tf.tidy(() => ({
      base: conditions
        .audio(features)
        .add(conditions.video.absent)
        .add(conditions.anchors(tf.tensor2d(tokens, [1, frames], 'int32'))),
      memory: this.#encodePrompt(prompt),
      state: tf.tensor3d(noise, [1, frames, channels]),
    }))
  }

  /** Returns the overlap with the previous chunk, in frames of this one. */
  #previousOverlap(
    { acceleration, startSample = 0 }: ChunkRequest,
    overlapState: OverlapState | undefined,
    samples: number,
  ) {
    const { hop } = this.#clock
    const frames = Math.ceil(samples / hop)
    const steps = STEPS[acceleration]
    const lane = { startSample, hop, frames, channels: this.#channels, steps }
    return overlapState && previousOverlap(overlapState, lane)
  }

  /** Channels of the flow: those of target and residual, side by side. */
  get #channels(): number {
    return 2 * this.#parts.config.codec.codebookDim
  }

  get #clock(): FrameClock {
    const { codec } = this.#parts.config
    return { sampleRate: codec.sampleRate, hop: hopOf(codec) }
  }

  /** Returns undefined without a span predictor. Reads from the device. */
  #predictSpans(features: Tensor, prompt: string): Span[] | undefined {
    const { spanPredictor } = this.#parts
    return spanPredictor?.predict(features, [features.shape[1]!], [prompt], this.#clock)[0]
  }

  /**
   * Encodes the next slice, unless another lane has done so; after the last one the flow begins.
   */
  #encode(lane: SamAudioLane): void {
    const { encoding, mixture } = lane.plan
    encoding.reduceTo(lane.leftToEncode!, mixture)
    if (lane.leftToEncode === 0 && !lane.hasBegun) this.#begin(lane)
  }

  #begin(lane: SamAudioLane): void {
    const { encoding, request } = lane.plan
    const features = encoding.features()
    try {
      const isPredicted = request.predictSpans && request.spans.length === 0
      const predictedSpans = isPredicted ? this.#predictSpans(features, request.prompt) : undefined
      const spans = predictedSpans ?? request.spans
      const { nextState, ...flow } = tf.tidy(() => {
        const { state, ...rest } = this.#flowOf({ ...request, spans }, features)
        return { ...rest, nextState: lane.nextState(state) }
      })
      lane.begin(flow, nextState, predictedSpans)
    } finally {
      features.dispose()
    }
  }

  /** Returns the text encoder's states, [1, words, contextDim]; the caller frees them. */
  #encodePrompt(prompt: string): Tensor {
    const { textEncoder, network } = this.#parts
    return this.#texts
      .get(prompt, () =>
        tf.tidy(() => {
          const { states } = textEncoder.encode([prompt])
          return tf.keep(network.velocity.conditions.memory(states))
        }),
      )
      .clone()
  }

  /** Returns the judge's score for the whole; undefined without a judge. Reads from the device. */
  #judge(mixture: Float32Array, separated: Float32Array, prompt: string): number | undefined {
    return this.#parts.judge?.judge([{ mixture, separated, prompt }])[0]?.overall
  }

  /** Takes one step of the flows. If memory runs out, no tensors are left behind. */
  #flow(lanes: readonly SamAudioLane[]): NextState[] {
    const strides = lanes.map(({ stride }) => stride!)
    return tf.tidy(() => {
      const states = stepFlows(this.#parts.network.velocity, this.#embedTime, lanes, strides)
      return lanes.map((lane, row) => lane.nextState(states[row]!))
    })
  }

  /**
   * Decodes the next slice of target and residual and copies it from the device, to hold little
   * there.
   */
  #decode(lane: SamAudioLane): [target: Float32Array, residual: Float32Array] {
    const {
      config: { codec },
      network,
    } = this.#parts
    const waves = tf.tidy(() =>
      decodeSlice(network.codec.decoder, codec, lane.streams(), lane.slice),
    )
    const flat = waves.dataSync<'float32'>()
    waves.dispose()
    return [flat.slice(0, flat.length / 2), flat.slice(flat.length / 2)]
  }

  /** Checks the channels of a chunk, and silences damaged samples. */
  #checkChunk(chunk: Chunk): Float32Array[] {
    const { sampleRate, chunkSecondsMax } = this.description
    assertChunk(chunk, sampleRate, chunkSecondsMax * sampleRate!)
    return chunk.channels.map((wave) => wave.map(zeroIfDamaged))
  }
}

/** Returns the network's input, which has one channel. */
export function meanOf(channels: readonly Float32Array[]): Float32Array {
  if (channels.length === 1) return channels[0]!
  return channels[0]!.map(
    (_, i) => channels.reduce((sum, wave) => sum + wave[i]!, 0) / channels.length,
  )
}

/**
 * Returns how well target and residual add up to the mixture, in decibels: the ratio of its power
 * to that of the difference.
 */
function consistency(mixture: Float32Array, target: Float32Array, residual: Float32Array): number {
  let power = 0
  let errorPower = 0
  for (const [i, sample] of mixture.entries()) {
    power += sample ** 2
    errorPower += (sample - target[i]! - residual[i]!) ** 2
  }
  return 10 * Math.log10((power + POWER_MIN) / (errorPower + POWER_MIN))
}

/** Keeps the score of silence finite. */
const POWER_MIN = 1e-10

function ownLane(lane: Lane): SamAudioLane {
  if (lane instanceof SamAudioLane) return lane
  throw new Error('The lane was not opened by this model')
}
