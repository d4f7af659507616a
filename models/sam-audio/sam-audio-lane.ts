/** One candidate of one chunk, on its way from noise to two streams of sound. */
import type { Acceleration, ChunkRequest, Head, Lane, OverlapState, Span } from '../model.ts'
import { tf, type Tensor } from '../tensorflow/tensor.ts'
import type { Slice } from './codec/slices.ts'
import type { Encoding } from './chunk-encoding.ts'
import type { Flow } from './flow/flow.ts'
import { planStrides, type Stride } from './flow/ode.ts'
import { inpaintOverlap, type PreviousOverlap } from './flow/overlap-state.ts'

/** Midpoint steps, with two evaluations each; the reference takes 16. */
export const STEPS: Readonly<Record<Acceleration, number>> = { fast: 8, balanced: 16, quality: 32 }

export interface LanePlan {
  /** Index of the head among those of its chunk. */
  index: number
  /** The prompt is already normalised. */
  request: Omit<ChunkRequest & Head, 'chunk' | 'overlapState'>
  /** The channels of the chunk, in which the target is placed. */
  channels: readonly Float32Array[]
  /** The mean of the channels, with which the result is compared. */
  mixture: Float32Array
  /** The encoding of the mixture, shared by its lanes; each step encodes one slice. */
  encoding: Encoding
  /** Samples per latent frame. */
  hop: number
  /** The overlap with the previous chunk; undefined if there is none. */
  previous: PreviousOverlap | undefined
  /** The slices in which the latents are decoded, one per step, after the flow has ended. */
  slices: readonly Slice[]
}

/** The state from which a lane continues. */
export type NextState = {
  state: Tensor
  /** The last frames, which the next chunk shares: no tensor or one. */
  left: Tensor[]
}

/**
 * Holds the conditioning and the state of the flow, then the decoded samples. Its steps are the
 * slices that were still to be encoded when it was opened, the steps of the flow, and the slices to
 * decode.
 */
export class SamAudioLane implements Lane, Flow {
  readonly heads: readonly number[]
  readonly rows = 1
  readonly steps: number
  stepsDone = 0
  readonly plan: LanePlan
  /** Predicted spans of the target; undefined if not asked for, or without a predictor. */
  predictedSpans: readonly Span[] | undefined
  readonly #encodingSteps: number
  readonly #strides: readonly Stride[]
  readonly #decoded: Record<'target' | 'residual', Float32Array[]> = { target: [], residual: [] }
  /** How many frames at the end have their states kept for the next chunk. */
  readonly #overlapFrames: number
  /** The last frames of every state so far. */
  readonly #left: Tensor[] = []
  #flow: Flow | undefined

  constructor(plan: LanePlan) {
    const {
      request: { acceleration, overlapSamples = 0 },
      encoding,
      hop,
      slices,
    } = plan
    this.plan = plan
    this.heads = [plan.index]
    this.#encodingSteps = encoding.left
    this.#strides = planStrides(STEPS[acceleration])
    this.#overlapFrames = Math.floor(overlapSamples / hop)
    this.steps = this.#encodingSteps + this.#strides.length + slices.length
  }

  get frames(): number {
    return this.plan.encoding.frames
  }

  /**
   * How many slices will remain to be encoded after the next step; undefined if it waits for none.
   */
  get leftToEncode(): number | undefined {
    const left = this.#encodingSteps - this.stepsDone - 1
    return left < 0 ? undefined : left
  }

  /** Ends a step in which this lane or another encoded a slice. */
  endEncodingStep(): void {
    this.stepsDone += 1
  }

  /** Whether the flow has begun, which it does with the last slice of the encoding. */
  get hasBegun(): boolean {
    return this.#flow !== undefined
  }

  /** Begins with a state that `nextState` returned; from here on the lane owns the tensors. */
  begin(flow: Omit<Flow, 'state'>, state: NextState, spans: readonly Span[] | undefined): void {
    this.#enter(flow, state)
    this.predictedSpans = spans
  }

  get base(): Tensor {
    return this.#begun.base
  }

  get memory(): Tensor {
    return this.#begun.memory
  }

  get state(): Tensor {
    return this.#begun.state
  }

  get #begun(): Flow {
    if (this.#flow) return this.#flow
    throw new Error('The flow of a lane begins when its chunk is encoded')
  }

  /** The next step of the flow; undefined before it has begun and after it has ended. */
  get stride(): Stride | undefined {
    return this.#strides[this.stepsDone - this.#encodingSteps]
  }

  /** The next slice to decode. */
  get slice(): Slice {
    const slice = this.plan.slices[this.stepsDone - this.#encodingSteps - this.#strides.length]
    if (!slice) throw new Error('A lane whose steps are done cannot be stepped')
    return slice
  }

  /**
   * Returns a state of the flow as the lane will continue from it. Changes nothing and may run out
   * of memory, so that a step can be retried.
   */
  nextState(state: Tensor): NextState {
    const { previous } = this.plan
    const index = this.hasBegun ? this.stepsDone - this.#encodingSteps + 1 : 0
    const next = previous ? inpaintOverlap(state, previous, index) : state
    const [, frames = 0, channels = 0] = next.shape
    const kept = this.#overlapFrames
    const left = kept > 0 ? [tf.slice(next, [0, frames - kept, 0], [1, kept, channels])] : []
    return { state: next, left }
  }

  /** Ends a step with the result of `nextState`; from here on the lane owns its tensors. */
  advance(state: NextState): void {
    const { base, memory, state: last } = this.#begun
    this.#enter({ base, memory }, state)
    this.stepsDone += 1
    last.dispose()
  }

  #enter({ base, memory }: Omit<Flow, 'state'>, { state, left }: NextState): void {
    this.#flow = { base, memory, state }
    this.#left.push(...left)
  }

  /** Returns the overlap state for the next chunk. Reads from the device. */
  overlapState(): OverlapState | undefined {
    const {
      mixture,
      request: { startSample = 0 },
      hop,
    } = this.plan
    if (this.#overlapFrames === 0) return undefined
    const states = tf.tidy(() => tf.concat(this.#left).dataSync<'float32'>()).slice()
    return { startSample: startSample + mixture.length - this.#overlapFrames * hop, states }
  }

  /** Ends a step with the samples of its slice. */
  append(target: Float32Array, residual: Float32Array): void {
    this.#decoded.target.push(target)
    this.#decoded.residual.push(residual)
    this.stepsDone += 1
  }

  /** Returns the decoded samples of a stream, as long as the chunk. */
  wave(stream: 'target' | 'residual'): Float32Array {
    const wave = new Float32Array(this.plan.mixture.length)
    let start = 0
    for (const part of this.#decoded[stream]) {
      wave.set(part.subarray(0, wave.length - start), start)
      start += part.length
    }
    return wave
  }

  /**
   * Splits target and residual, side by side in the channels, into rows: [2, frames, codebookDim].
   */
  streams(): Tensor {
    return tf.tidy(() => tf.concat(tf.split(this.state, 2, 2)))
  }

  dispose(): void {
    tf.dispose({ left: this.#left, ...this.#flow })
  }
}
