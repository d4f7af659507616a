/**
 * Defines a model. A **head** is one thing that is asked of a chunk: a prompt, and which candidate
 * of it. A **lane** is a chunk on its way through the model for one head, or for several that one
 * pass answers, with its own place in its own step plan; lanes of any requests are stepped together
 * in one batch.
 *
 * Invariant: a lane's result does not depend on the lanes it shares batches with (1e-5; in
 * bfloat16, not more than its rounding).
 */

import type { Level } from './lanes/level.ts'
import type { Precision } from './tensorflow/precision.ts'

/** No chunk has more channels; media with more is mixed down. */
export const CHANNELS_MAX = 8

export type Acceleration = 'fast' | 'balanced' | 'quality'

/**
 * A slice of a mixture: planar samples, full scale ±1, one array per channel, all of one length.
 */
export interface Chunk {
  channels: Float32Array[]
  /** Hertz. */
  sampleRate: number
  /** Loudspeakers of the channels, as in the header of a WAV (absent or 0: not known). */
  channelMask?: bigint
  /**
   * Of the whole mixture, for each row of channels that `rowsFor` pairs; absent: models that need
   * it take the chunk's own.
   */
  levels?: readonly Level[]
  /** Facts that its model found when it prepared the chunk; absent: it has not. */
  prepared?: object
}

/** A time range in seconds from the start of the chunk, in which the target sounds, or does not. */
export interface Span {
  start: number
  end: number
  include: boolean
}

/**
 * How the end of a chunk came about: lanes of the next chunk that are given it render alike what
 * both have. A model's own; whoever hands it on does not read it.
 */
export interface OverlapState {
  /** Its start in the mixture, in samples. */
  startSample: number
  states: Float32Array
}

/** A chunk, and how all that is asked of it is separated. */
export interface ChunkRequest {
  chunk: Chunk
  spans: readonly Span[]
  acceleration: Acceleration
  /** Start of the chunk in its mixture, in samples (absent: 0). */
  startSample?: number
  /** How many samples at its end the next chunk has too (absent: 0): their states are kept. */
  overlapSamples?: number
  /** How many candidates are made of each prompt (absent: 1): of one, nobody needs the score. */
  candidates?: number
  /** True if to predict first where the target sounds, and go by that; not together with spans. */
  predictSpans?: boolean
}

/** One thing that is asked of a chunk. */
export interface Head {
  prompt: string
  /** Stems whose sum is the target, if the model has stems. */
  stems?: readonly string[]
  /** True if nothing is softened: the head's target is taken away from what people keep. */
  keepsLevel?: boolean
  /**
   * Seeds whatever is random, so that a retried request gives the same answer. 32 bits, the
   * same for every chunk of a candidate: with `startSample`, chunks that overlap can share there
   * what is random.
   */
  seed: number
  /** Which of several candidates it is, from 0 (absent: 0), the only one of most. */
  candidate?: number
  /** The overlap state of the chunk before, for models that need it (`needsPreviousChunk`). */
  overlapState?: OverlapState
}

export interface Lane {
  /** Which of the heads that were opened together it answers, by index. */
  readonly heads: readonly number[]
  /** Rows of a batch that the lane takes. */
  readonly rows: number
  /** Time frames of each of its rows, which are padded to the longest of the batch. */
  readonly frames: number
  /** Evaluations that the lane needs in all. */
  readonly steps: number
  /** Evaluations done; the lane can be closed when it equals `steps`. */
  stepsDone: number
}

/** A possible meaning of a prompt to a model with named classes. */
export interface Meaning {
  name: string
  /** From 0 to 1. */
  probability: number
}

/** Energies in a target as the model expects them: of the sound, and of others that remain. */
export interface Expected {
  sound: number
  others: number
}

/** A model's finding about a prompt in one chunk; absent parts: it does not tell. */
export interface ChunkFinding {
  /** How probable it is that the prompted sound is in the chunk. */
  match?: number | undefined
  /** Absent: the model has no estimate. */
  expected?: Expected | undefined
  /** The gain that the match gave the target, from 0 to 1; absent: there is none. */
  presenceGain?: number | undefined
  /** The classes that the prompt may mean, the most probable first. */
  meanings?: readonly Meaning[] | undefined
  /** The nearest class; null: none is near the prompt. */
  understoodAs?: string | null | undefined
  /** The target's content instead, if no class is near; absent: what the nearest one found. */
  substitute?: string | undefined
  /** Names to try instead, where no class is near, the likeliest first. */
  nearest?: readonly string[] | undefined
}

/** The answer to one head. */
export interface HeadResult extends ChunkFinding {
  /** Shaped like the chunk: its channels, its length, its rate. */
  target: Float32Array[]
  /**
   * How well the model thinks it did, the higher the better: it ranks candidates of one chunk. See
   * the model's card for what it is worth.
   */
  score: number
  /**
   * Predicted spans of the target, in order; empty: nowhere, and then nothing was silenced. Absent:
   * not requested.
   */
  predictedSpans?: readonly Span[]
  /** Present if it was asked for. */
  overlapState?: OverlapState
  /** A tagger's logits, [steps · classes]: it has no target. */
  tags?: Float32Array
}

/** How the results of chunks that overlap are joined. */
export type Joining =
  /** Neighbours are cross-faded over the overlap; what else the later one has is context. */
  | { kind: 'seam' }
  /** The sum of all chunks, each sample weighted, over the sum of the weights. */
  | { kind: 'weighted'; weights: Float32Array }

export interface ModelDescription {
  /** Short name, as the setting MODEL begins. */
  name: string
  /** One sentence for people. */
  summary: string
  /** `text`: any prompt; `stems`: the stems that it names. */
  answers: 'text' | 'stems'
  /** Empty of a model that answers text. */
  stems: readonly string[]
  /** Sounds that a model for text knows; absent: it has no such list. */
  names?: readonly string[]
  /** Frames that one second of media occupies in a batch. */
  framesPerSecond: number
  /** Frames of a batch beyond which a processor is no faster. */
  framesOnProcessor: number
  /** The same while requests share the processor; absent: as many. */
  framesOnSharedProcessor?: number
  /** The rate that chunks must have, in hertz; null: any. */
  sampleRate: number | null
  /**
   * Chunks start at multiples of so many samples, so that the frames of neighbours coincide; 1:
   * anywhere.
   */
  frameSamples: number
  /** The longest chunk that the model separates well, in seconds; longer media is cut up. */
  chunkSecondsMax: number
  /**
   * Samples of every chunk, and from one to the next, of a model that has them fixed; null: the
   * request and `chunkSecondsMax` say.
   */
  fixedChunks: { samples: number; hop: number } | null
  joining: Joining
  /** The most overlap of neighbouring chunks that pays, in seconds. */
  overlapSecondsMax: Readonly<Record<Acceleration, number>>
  /** Describes each acceleration in a few words. */
  passes: Readonly<Record<Acceleration, string>>
  /** True if chunks follow the one before, so that they are separated one after the other. */
  needsPreviousChunk: boolean
  /** True if chunks need the level of the whole mixture; absent: they do not. */
  needsLevels?: boolean
  /** True if candidates differ, so that several are worth making. */
  givesCandidates: boolean
  /** True if it can say by itself where the target sounds. */
  predictsSpans: boolean
  /** How wide the products of its network are. */
  precision: Precision
  parameters: number
  /** SHA-256 of the weights file, in hexadecimal. */
  weightsSha256: string
}

export interface Model {
  readonly description: ModelDescription
  /** Notes for an operator about its loading, in sentences. */
  readonly warnings: readonly string[]
  /**
   * Opens all that is asked of a chunk, which shares what is computed of the chunk alone.
   * @returns lanes at their first step; together they answer each head once
   * @throws Error when the chunk is not one that the description allows; nothing is held then
   */
  open(request: ChunkRequest, heads: readonly Head[]): Lane[]
  /** Advances every lane given by one evaluation, in one batched call. */
  step(lanes: readonly Lane[]): void
  /** The result of each head of a lane whose steps are done; frees what the lane held. */
  close(lane: Lane): HeadResult[]
  /** Frees what the lane held, at any step. */
  discard(lane: Lane): void
}

/** One head of a chunk. */
export type LaneRequest = ChunkRequest & Head

/** Opens one head of a chunk alone. */
export function openLane(model: Model, { chunk, ...request }: LaneRequest): Lane {
  const [lane] = model.open({ chunk, ...request }, [request])
  return lane!
}

/** The result of a lane with one head. */
export const closeLane = (model: Model, lane: Lane): HeadResult => model.close(lane)[0]!
