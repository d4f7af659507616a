/** The messages between compute.ts and compute-worker.ts. */

import type { ChunkRequest, Head, HeadResult, ModelDescription } from '../../models/model.ts'
import type { ModelChoice } from '../../models/model-choice.ts'
import type { PrecisionChoice } from '../../models/tensorflow/precision.ts'
import type { TaggerConfig } from '../../models/tagger/config.ts'

export interface WorkerOptions {
  /** The models to load, the preferred one first. */
  models: readonly ModelChoice[]
  /** Names of models that are not loaded on a CPU; may include the tagger (default: none). */
  leftOut?: readonly string[]
  /** Memory that the models may take on a CPU, in bytes; absent if it is not counted. */
  freeBytes?: number
  /** Like CUDA_VISIBLE_DEVICES, starting with the engine's GPU. */
  visibleGpus?: string | undefined
  textEncoderFolder: string
  precision: PrecisionChoice
  /** With `auto`, the compute predicts what fits the device. */
  batchFramesMax: number | 'auto'
}

export interface LoadedModel {
  description: ModelDescription
  /**
   * How many frames of a batch fit the device's memory, as predicted; null without a prediction.
   */
  framesFitting: number | null
}

/** The tagger, through which every mixture passes in addition to the models of its prompts. */
export interface LoadedTagger extends LoadedModel {
  config: TaggerConfig
}

/** The first message of the worker, once the models are loaded and warm. */
export interface Ready {
  /** In the order of `WorkerOptions`, without the models left out. */
  models: readonly LoadedModel[]
  /** Null if the program has no tagger; then nothing is tagged. */
  tagger: LoadedTagger | null
  /** For example `tensorflow 2.21.0`. */
  backend: string
  device: 'cpu' | 'gpu'
  /** Warnings for admins about models and device, in full sentences. */
  warnings: readonly string[]
}

/** Everything that is asked of one model about a chunk. */
export interface ChunkOrder {
  model: string
  request: ChunkRequest
  heads: readonly Head[]
}

export type Command =
  | ({ type: 'open' } & ChunkOrder)
  | { type: 'step'; lanes: readonly number[] }
  | { type: 'close'; lane: number }
  | { type: 'discard'; lane: number }
  /** Answered in turn like any other command, which proves that the compute is alive. */
  | { type: 'beat' }
  | { type: 'load'; choice: ModelChoice }

/**
 * A lane made by `open`: which heads it answers, how much of a batch it takes, and its number of
 * steps.
 */
export interface LaneHandle {
  lane: number
  /** Indices of heads of the order. */
  heads: readonly number[]
  rows: number
  frames: number
  steps: number
}

/** The result of each command. */
export interface Replies {
  open: LaneHandle[]
  step: null
  close: HeadResult[]
  discard: null
  beat: null
  /** All models, which have less memory left now. */
  load: Pick<Ready, 'models'>
}

export type ToWorker = { call: number } & Command

/** The state of the device after a call. */
export interface DeviceState {
  graphs: number
  /** In use according to TensorFlow's allocator; 0 if it does not count. */
  memoryBytes: number
  /** The peak since the start. */
  memoryPeakBytes: number
  /** Resident memory of the process. */
  residentBytes: number
}

/** `seconds` is how long the call kept the compute busy. */
export type FromWorker =
  | { ready: Ready; held: DeviceState }
  /** The last message of a process: why it ends. */
  | { failed: string }
  | { level: 'info' | 'warn'; line: string }
  | ({ call: number; seconds: number; held: DeviceState } & (
      { value: Replies[Command['type']] } | { error: string }
    ))
