/** The messages between compute-thread.ts and compute-worker.ts. */

import type { LaneRequest, LaneResult, ModelDescription } from '../../models/model.ts'
import type { ModelChoice } from '../../models/model-choice.ts'
import type { PrecisionChoice } from '../../models/precision.ts'

export interface WorkerOptions {
  model: ModelChoice
  textEncoderFolder: string
  precision: PrecisionChoice
  /** `auto`: the thread predicts what fits the device. */
  batchFramesMax: number | 'auto'
}

/** The worker's first message, when the model is loaded and warm. */
export interface Ready {
  description: ModelDescription
  /** Such as `tensorflow 2.21.0`. */
  backend: string
  device: 'cpu' | 'gpu'
  /** Frames of a batch that fit the device's memory, as predicted; null: not predicted. */
  framesFitting: number | null
  /** Notes for the operator on model and device, in sentences. */
  warnings: readonly string[]
}

export type Command =
  | { type: 'open'; lane: number; request: LaneRequest }
  | { type: 'step'; lanes: readonly number[] }
  | { type: 'close'; lane: number }
  | { type: 'discard'; lane: number }
  /** Answered like any other, in its turn: the thread is alive. */
  | { type: 'beat' }

/** The result of `open`: what a lane takes of a batch, and its number of steps. */
export interface OpenedLane {
  rows: number
  frames: number
  steps: number
}

/** The result of each command. */
export interface Replies {
  open: OpenedLane
  step: null
  close: LaneResult
  discard: null
  beat: null
}

export type ToWorker = { call: number } & Command

/** What the device holds after a call. */
export interface DeviceState {
  graphs: number
  /** By TensorFlow's allocator; 0 where it does not count. */
  memoryBytes: number
  /** The most since the start. */
  memoryPeakBytes: number
}

/** `seconds`: how long the thread was busy with the call. */
export type FromWorker =
  | { ready: Ready; held: DeviceState }
  | ({ call: number; seconds: number; held: DeviceState } & (
      { value: Replies[Command['type']] } | { error: string }
    ))
