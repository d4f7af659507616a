/**
 * What a model is. A **lane** is one candidate of one chunk on its way through the model, with its
 * own place in its own step plan; lanes of any requests are stepped together in one batch.
 *
 * Invariant: a lane's result does not depend on the lanes it shares batches with (1e-5; in
 * bfloat16, not more than its rounding).
 */

import type { Precision } from './precision.ts'

export type Acceleration = 'fast' | 'balanced' | 'quality'

/**
 * A slice of a mixture: planar samples, full scale ±1, one array per channel, all of one length.
 */
export interface Chunk {
  channels: Float32Array[]
  /** Hertz. */
  sampleRate: number
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
  /** Where it begins in the mixture, in samples. */
  startSample: number
  states: Float32Array
}

export interface LaneRequest {
  chunk: Chunk
  prompt: string
  spans: readonly Span[]
  acceleration: Acceleration
  /**
   * Seeds whatever is random, so that a request tried again gives the same answer. 32 bits, the
   * same for every chunk of a candidate: with `startSample`, chunks that overlap can share there
   * what is random.
   */
  seed: number
  /** Where the chunk starts in its mixture, in samples (absent: 0). */
  startSample?: number
  /** The overlap state of the chunk before, for models that need it (`needsPreviousChunk`). */
  overlapState?: OverlapState
  /** How many samples at its end the next chunk has too (absent: 0): their states are kept. */
  overlapSamples?: number
  /** Which of several candidates of the chunk it is, from 0 (absent: 0), the only one of most. */
  candidate?: number
  /** How many are made of it (absent: 1): of a single one, nobody needs the score. */
  candidates?: number
  /** Whether to predict first where the target sounds, and go by that; not together with spans. */
  predictSpans?: boolean
}

export interface Lane {
  /** Rows of a batch that the lane takes. */
  readonly rows: number
  /** Time frames of each of its rows, which are padded to the longest of the batch. */
  readonly frames: number
  /** Evaluations that the lane needs in all. */
  readonly steps: number
  /** Evaluations done; the lane can be closed when it equals `steps`. */
  stepsDone: number
}

/** Shaped like the chunk: its channels, its length, its rate. */
export interface Separation {
  target: Float32Array[]
  residual: Float32Array[]
}

/** What a prompt may mean to a model with named classes. */
export interface Meaning {
  name: string
  /** From 0 to 1. */
  probability: number
}

/** What a lane ends with. */
export interface LaneResult extends Separation {
  /**
   * How well the model thinks it did, the higher the better: it ranks candidates of one chunk. See
   * the model's card for what it is worth.
   */
  score: number
  /** How probable it is that the prompted sound is in the chunk. Absent: not estimated. */
  match?: number
  /** The gain that the match gave the target, from 0 to 1; absent: there is none. */
  presenceGain?: number
  /** The classes that the prompt may mean, the most probable first; absent without named ones. */
  meanings?: readonly Meaning[]
  /** The nearest class; null: none is near the prompt. Absent without named ones. */
  understoodAs?: string | null
  /** What the target holds instead, where no class is near; absent: what the nearest one found. */
  substitute?: string
  /** Names to try instead, where no class is near, the likeliest first. */
  nearest?: readonly string[]
  /**
   * Where the target was predicted to sound, in order; empty: nowhere, and then nothing was
   * silenced. Absent: not requested.
   */
  predictedSpans?: readonly Span[]
  /** Where it was asked for. */
  overlapState?: OverlapState
}

export interface ModelDescription {
  /** Short name, as the setting MODEL begins. */
  name: string
  /** One sentence for people. */
  summary: string
  /** Frames that one second of media occupies in a batch. */
  framesPerSecond: number
  /** The rate that chunks must have, in hertz; null: any. */
  sampleRate: number | null
  /**
   * Chunks start at multiples of so many samples, so that the frames of neighbours coincide; 1:
   * anywhere.
   */
  frameSamples: number
  /** The most channels a chunk may have; more are mixed down. */
  channelsMax: number
  /** The longest chunk that the model separates well, in seconds; longer media is cut up. */
  chunkSecondsMax: number
  /** The most overlap of neighbouring chunks that pays, in seconds. */
  overlapSecondsMax: Readonly<Record<Acceleration, number>>
  /** What each acceleration does, in a few words. */
  passes: Readonly<Record<Acceleration, string>>
  /** Whether chunks follow the one before, so that they are separated one after the other. */
  needsPreviousChunk: boolean
  /** Whether candidates differ, so that several are worth making. */
  givesCandidates: boolean
  /** Whether it can say by itself where the target sounds. */
  predictsSpans: boolean
  /** How wide the products of its network are. */
  precision: Precision
  parameters: number
  /** SHA-256 of the weights file, in hexadecimal. */
  weightsSha256: string
}

export interface Model {
  readonly description: ModelDescription
  /** What an operator should know of how it was loaded, in sentences. */
  readonly warnings: readonly string[]
  /**
   * A lane at its first step. @throws Error when the chunk is not one that the description allows
   */
  open(request: LaneRequest): Lane
  /** Advances every lane given by one evaluation, in one batched call. */
  step(lanes: readonly Lane[]): void
  /** The result of a lane whose steps are done; frees what the lane held. */
  close(lane: Lane): LaneResult
  /** Frees what the lane held, at any step. */
  discard(lane: Lane): void
}
