/**
 * Defines what a model is. A **head** is one thing that is asked of a chunk: a prompt, and one of
 * its candidates. A **lane** is a chunk on its way through the model, for one head or for several
 * that a single pass answers. Each lane has its own position in its own plan of steps, and lanes of
 * any requests are stepped together in one batch.
 *
 * Invariant: the result of a lane does not depend on the other lanes in its batches (within 1e-5,
 * or in bfloat16 within its rounding).
 */

import type { Level } from './lanes/level.ts'
import type { Precision } from './tensorflow/precision.ts'

/** The most channels that a chunk can have; media with more are downmixed. */
export const CHANNELS_MAX = 8

export type Acceleration = 'fast' | 'balanced' | 'quality'

/**
 * A piece of a mixture: planar samples at full scale ±1, one array per channel, all equally long.
 */
export interface Chunk {
  channels: Float32Array[]
  /** Hertz. */
  sampleRate: number
  /** The channels' loudspeakers, as in a WAV header (default 0: unknown). */
  channelMask?: bigint
  /**
   * Levels of the whole mixture, one for each row of channels that `rowsFor` forms. If absent,
   * models that need a level measure the chunk.
   */
  levels?: readonly Level[]
  /** What the model computed when it prepared the chunk; absent if it has not. */
  prepared?: object
}

/**
 * A time range in seconds from the start of the chunk in which the target is present, or absent.
 */
export interface Span {
  start: number
  end: number
  include: boolean
}

/**
 * The end of a chunk, from which the lanes of the next chunk render their common part the same way.
 * Only the model itself reads it.
 */
export interface OverlapState {
  /** Where it starts in the mixture, in samples. */
  startSample: number
  states: Float32Array
}

/** A chunk, and how everything that is asked of it is separated. */
export interface ChunkRequest {
  chunk: Chunk
  spans: readonly Span[]
  acceleration: Acceleration
  /** Where the chunk starts in its mixture, in samples (default 0). */
  startSample?: number
  /**
   * How many samples at its end belong to the next chunk too (default 0); their states are kept.
   */
  overlapSamples?: number
  /**
   * How many candidates each prompt gets (default 1). With a single one, nobody needs the score.
   */
  candidates?: number
  /**
   * Whether the model first predicts where the target is and then uses that. Not together with
   * spans.
   */
  predictSpans?: boolean
}

/** One thing that is asked of a chunk. */
export interface Head {
  prompt: string
  /** The stems that add up to the target, for models with stems. */
  stems?: readonly string[]
  /**
   * Whether the target keeps its level even if it seems absent, because it is what people want
   * removed.
   */
  keepsLevel?: boolean
  /**
   * Seeds everything random, so that a retry gives the same result. 32 bits, the same for every
   * chunk of a candidate; together with `startSample`, overlapping chunks can share random values.
   */
  seed: number
  /** Index of the candidate (default 0). */
  candidate?: number
  /** The overlap state of the previous chunk, for models that need it (`needsPreviousChunk`). */
  overlapState?: OverlapState
}

export interface Lane {
  /** Indices of the heads that this lane answers, among those opened together. */
  readonly heads: readonly number[]
  /** How many rows of a batch the lane takes. */
  readonly rows: number
  /** Time frames in each of its rows, which are padded to the longest row of the batch. */
  readonly frames: number
  /** How many steps the lane needs in total. */
  readonly steps: number
  /** Completed steps; the lane can be closed when this equals `steps`. */
  stepsDone: number
}

/** A possible meaning of a prompt, for models with named classes. */
export interface Meaning {
  name: string
  /** From 0 to 1. */
  probability: number
}

/**
 * The energies that the model expects in a target: of the sound, and of other sounds left in it.
 */
export interface Expected {
  sound: number
  others: number
}

/** What a model found out about a prompt in one chunk. Parts that it cannot tell are absent. */
export interface ChunkFinding {
  /** How probable it is that the sound is in the chunk. */
  match?: number | undefined
  /** Absent if the model has no estimate. */
  expected?: Expected | undefined
  /** The gain from 0 to 1 that the match gave the target; absent if none was applied. */
  presenceGain?: number | undefined
  /** The classes that the prompt may mean, the most probable first. */
  meanings?: readonly Meaning[] | undefined
  /** The nearest class; null if none is near the prompt. */
  understoodAs?: string | null | undefined
  /**
   * What the target contains instead if no class is near; absent if it is what the nearest class
   * found.
   */
  substitute?: string | undefined
  /** Names to suggest if no class is near, the most similar first. */
  nearest?: readonly string[] | undefined
}

export interface HeadResult extends ChunkFinding {
  /** Has the channels, the length and the sample rate of the chunk. */
  target: Float32Array[]
  /**
   * How well the model thinks it did; higher is better. It ranks the candidates of one chunk, and
   * the model's card says how far to trust it.
   */
  score: number
  /**
   * Predicted spans of the target, in order. Empty if there are none, in which case nothing was
   * silenced; absent if not requested.
   */
  predictedSpans?: readonly Span[]
  /** Present if it was requested. */
  overlapState?: OverlapState
  /** Logits of a tagger, which has no target: [steps · classes]. */
  tags?: Float32Array
}

/** How the results of overlapping chunks are joined. */
export type Joining =
  /** Cross-faded over the overlap; the rest of what the later chunk repeats is only context. */
  | { kind: 'seam' }
  /** Weighted sample by sample, summed, and divided by the sum of the weights. */
  | { kind: 'weighted'; weights: Float32Array }

export interface ModelDescription {
  /** Short name, as in the settings MODEL and MODELS. */
  name: string
  /** One sentence for people. */
  summary: string
  /** `text` takes any prompt; `stems` takes the names of its stems. */
  answers: 'text' | 'stems'
  /** Empty for a model that takes text. */
  stems: readonly string[]
  /** Sounds that a model for text knows; absent if it has no such list. */
  names?: readonly string[]
  /** Frames that a second of media takes in a batch. */
  framesPerSecond: number
  /** Number of frames beyond which larger batches are no faster on a CPU. */
  framesOnCpu: number
  /** The same while several requests share the CPU (default: the same number). */
  framesOnSharedCpu?: number
  /** The sample rate that chunks must have, in hertz; null if any will do. */
  sampleRate: number | null
  /**
   * Chunks start at multiples of this many samples, so that the frames of overlapping chunks
   * coincide; 1 if they may start anywhere.
   */
  frameSamples: number
  /** The longest chunk that the model separates well, in seconds; longer media are split. */
  chunkSecondsMax: number
  /**
   * Length and hop of chunks in samples, for a model that fixes them; null if the request and
   * `chunkSecondsMax` decide.
   */
  fixedChunks: { samples: number; hop: number } | null
  joining: Joining
  /** Beyond this many seconds, more overlap between chunks does not improve the result. */
  overlapSecondsMax: Readonly<Record<Acceleration, number>>
  /** Describes each acceleration in a few words. */
  passes: Readonly<Record<Acceleration, string>>
  /** Whether each chunk needs the one before, so that they must be separated in order. */
  needsPreviousChunk: boolean
  /** Whether chunks need the level of the whole mixture (default: no). */
  needsLevels?: boolean
  /** Whether candidates differ, so that asking for several makes sense. */
  givesCandidates: boolean
  /** Whether the model can predict where the target is. */
  predictsSpans: boolean
  /** Precision of the network's matrix products. */
  precision: Precision
  parameters: number
  /** SHA-256 of the weights file, in hexadecimal. */
  weightsSha256: string
}

export interface Model {
  readonly description: ModelDescription
  /** Warnings for admins about loading the model, in full sentences. */
  readonly warnings: readonly string[]
  /**
   * Opens all heads of a chunk, which share whatever depends on the chunk alone.
   * @returns lanes at their first step, which together answer each head once
   * @throws Error if the description does not allow the chunk; nothing is held in that case
   */
  open(request: ChunkRequest, heads: readonly Head[]): Lane[]
  /** Advances all lanes by one step, in one batched call. */
  step(lanes: readonly Lane[]): void
  /** Returns the result of each head of a completed lane, and frees what the lane held. */
  close(lane: Lane): HeadResult[]
  /** Frees what a lane held, at any step. */
  discard(lane: Lane): void
}

export type LaneRequest = ChunkRequest & Head

/** Opens a single head of a chunk. */
export function openLane(model: Model, { chunk, ...request }: LaneRequest): Lane {
  const [lane] = model.open({ chunk, ...request }, [request])
  return lane!
}

/** Returns the result of a lane with a single head. */
export const closeLane = (model: Model, lane: Lane): HeadResult => model.close(lane)[0]!

/**
 * @param samplesMax of a channel
 * @throws Error if a model for the expected sample rate can't take the chunk
 */
export function assertChunk(
  { channels, sampleRate }: Chunk,
  expected: number | null,
  samplesMax: number,
): void {
  const [first] = channels
  if (!first || channels.length > CHANNELS_MAX) {
    throw new Error(`A chunk has 1 to ${CHANNELS_MAX} channels, not ${channels.length}`)
  }
  if (sampleRate !== expected) {
    throw new Error(`A chunk has ${expected} samples in a second, not ${sampleRate}`)
  }
  if (first.length < 1 || first.length > samplesMax) {
    throw new Error(`A chunk has 1 to ${samplesMax} samples, not ${first.length}`)
  }
}
