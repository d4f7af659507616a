/** The messages between compute.ts and compute-worker.ts. */

import type { ChunkRequest, Head, HeadResult, ModelDescription } from '../../models/model.ts'
import type { ModelChoice } from '../../models/model-choice.ts'
import type { PrecisionChoice } from '../../models/tensorflow/precision.ts'
import type { TaggerConfig } from '../../models/tagger/config.ts'

export interface WorkerOptions {
  /** Its models, the preferred first. */
  models: readonly ModelChoice[]
  /** Names of models that it leaves out on a processor, the tagger's among them (absent: none). */
  leftOut?: readonly string[]
  /** Memory that its models may take on a processor, in bytes; absent: nobody counted it. */
  freeBytes?: number
  /** As CUDA_VISIBLE_DEVICES, its GPU first. */
  visibleGpus?: string | undefined
  textEncoderFolder: string
  precision: PrecisionChoice
  /** `auto`: the thread predicts what fits the device. */
  batchFramesMax: number | 'auto'
}

export interface LoadedModel {
  description: ModelDescription
  /** Frames of a batch that fit the device's memory, as predicted; null: not predicted. */
  framesFitting: number | null
}

/** The tagger, which every mixture passes beside the models that prompts choose. */
export interface LoadedTagger extends LoadedModel {
  config: TaggerConfig
}

/** The worker's first message, when the models are loaded and warm. */
export interface Ready {
  /** In the order of `WorkerOptions`, without those that were left out. */
  models: readonly LoadedModel[]
  /** Null of a program that has none: nothing is tagged then. */
  tagger: LoadedTagger | null
  /** Such as `tensorflow 2.21.0`. */
  backend: string
  device: 'cpu' | 'gpu'
  /** Notes for the operator on models and device, in sentences. */
  warnings: readonly string[]
}

/** All that is asked of one model about a chunk. */
export interface ChunkOrder {
  /** Its name. */
  model: string
  request: ChunkRequest
  heads: readonly Head[]
}

export type Command =
  | ({ type: 'open' } & ChunkOrder)
  | { type: 'step'; lanes: readonly number[] }
  | { type: 'close'; lane: number }
  | { type: 'discard'; lane: number }
  /** Answered like any other, in its turn: the thread is alive. */
  | { type: 'beat' }
  | { type: 'load'; choice: ModelChoice }

/** A lane that `open` made: what it answers, what it takes of a batch, its number of steps. */
export interface OpenedLane {
  lane: number
  /** Indices of the order's heads. */
  heads: readonly number[]
  rows: number
  frames: number
  steps: number
}

/** The result of each command. */
export interface Replies {
  open: OpenedLane[]
  step: null
  close: HeadResult[]
  discard: null
  beat: null
  /** All models, for which less memory is left now. */
  load: Pick<Ready, 'models'>
}

export type ToWorker = { call: number } & Command

/** The device's state after a call. */
export interface DeviceState {
  graphs: number
  /** By TensorFlow's allocator; 0 where it does not count. */
  memoryBytes: number
  /** The most since the start. */
  memoryPeakBytes: number
  /** Resident memory of the process. */
  residentBytes: number
}

/** `seconds`: how long the thread was busy with the call. */
export type FromWorker =
  | { ready: Ready; held: DeviceState }
  /** The last message of a process: why it ends. */
  | { failed: string }
  /** A line for the log. */
  | { level: 'info' | 'warn'; line: string }
  | ({ call: number; seconds: number; held: DeviceState } & (
      { value: Replies[Command['type']] } | { error: string }
    ))
