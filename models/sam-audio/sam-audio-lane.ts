/** One candidate of one chunk on its way from noise to two streams of sound. */
import type { Acceleration, Lane, Span, Trail } from '../model.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Slice } from './codec/slices.ts'
import type { Flow } from './flow.ts'
import { planStrides, type Stride } from './ode.ts'
import { follow, type Leader } from './trail.ts'

/** Midpoint steps, of two evaluations each; 16 are the reference's. */
export const STEPS: Readonly<Record<Acceleration, number>> = { fast: 8, balanced: 16, quality: 32 }

export interface LanePlan {
  /** The chunk, one channel: what the result is compared with. */
  mixture: Float32Array
  /** As the model hears it. */
  prompt: string
  acceleration: Acceleration
  /** Whether there are others to compare it with. */
  isRanked: boolean
  /** Where the target was predicted to sound; undefined: nobody asked, or nobody can tell. */
  predictedSpans: readonly Span[] | undefined
  /** Where the chunk begins in the mixture, in samples; a latent frame has `hop` of them. */
  startSample: number
  hop: number
  /** What it follows; undefined: no chunk comes before. */
  leader: Leader | undefined
  /** Of how many frames at the end it leaves one itself. */
  trailFrames: number
  /** What the latents are decoded in, one slice a step once the flow has ended. */
  slices: readonly Slice[]
}

/** Holds what the network is told, where the flow is, and then what of it is decoded. */
export class SamAudioLane implements Lane, Flow {
  readonly steps: number
  stepsDone = 0
  readonly base: Tensor
  readonly memory: Tensor
  readonly mixture: Float32Array
  readonly prompt: string
  readonly isRanked: boolean
  readonly predictedSpans: readonly Span[] | undefined
  readonly #strides: readonly Stride[]
  readonly #slices: readonly Slice[]
  readonly #decoded: Record<'target' | 'residual', Float32Array[]> = { target: [], residual: [] }
  readonly #plan: LanePlan
  /** The last frames of every state so far. */
  readonly #left: Tensor[] = []
  #state: Tensor

  /** The lane owns the tensors of `flow` from here on. */
  constructor(flow: Flow, plan: LanePlan) {
    const { mixture, prompt, acceleration, isRanked, predictedSpans, slices } = plan
    this.#plan = plan
    this.base = flow.base
    this.memory = flow.memory
    this.mixture = mixture
    this.prompt = prompt
    this.isRanked = isRanked
    this.predictedSpans = predictedSpans
    this.#strides = planStrides(STEPS[acceleration])
    this.#slices = slices
    this.steps = this.#strides.length + slices.length
    this.#state = this.#entered(flow.state, 0)
  }

  get frames(): number {
    return this.#state.shape[1]!
  }

  get state(): Tensor {
    return this.#state
  }

  /** The coming step of the flow; undefined when it has ended. */
  get stride(): Stride | undefined {
    return this.#strides[this.stepsDone]
  }

  /** The coming slice to decode. */
  get slice(): Slice {
    const slice = this.#slices[this.stepsDone - this.#strides.length]
    if (!slice) throw new Error('A lane whose steps are done cannot be stepped')
    return slice
  }

  /** Ends a step with the state that it led to, which the lane owns from here on. */
  advance(state: Tensor): void {
    this.#state.dispose()
    this.stepsDone += 1
    this.#state = this.#entered(state, this.stepsDone)
  }

  /** A state as the lane goes on from it; `state` is freed if it is another. */
  #entered(state: Tensor, index: number): Tensor {
    const { leader, trailFrames } = this.#plan
    const entered = leader ? follow(state, leader, index) : state
    if (entered !== state) state.dispose()
    const [, frames = 0, channels = 0] = entered.shape
    if (trailFrames > 0) {
      this.#left.push(tf.slice(entered, [0, frames - trailFrames, 0], [1, trailFrames, channels]))
    }
    return entered
  }

  /** What a lane of the next chunk follows. Reads from the device. */
  trail(): Trail | undefined {
    const { mixture, startSample, hop, trailFrames } = this.#plan
    if (trailFrames === 0) return undefined
    const states = tf.tidy(() => tf.concat(this.#left).dataSync<'float32'>()).slice()
    return { startSample: startSample + mixture.length - trailFrames * hop, states }
  }

  /** Ends a step with the samples of its slice. */
  append(target: Float32Array, residual: Float32Array): void {
    this.#decoded.target.push(target)
    this.#decoded.residual.push(residual)
    this.stepsDone += 1
  }

  /** What was decoded of a stream, as long as the chunk. */
  wave(stream: 'target' | 'residual'): Float32Array {
    const wave = new Float32Array(this.mixture.length)
    let start = 0
    for (const part of this.#decoded[stream]) {
      wave.set(part.subarray(0, wave.length - start), start)
      start += part.length
    }
    return wave
  }

  /** Target and residual, side by side in the channels, as rows: [2, frames, codebookDim]. */
  streams(): Tensor {
    return tf.tidy(() => tf.concat(tf.split(this.#state, 2, 2)))
  }

  dispose(): void {
    tf.dispose([this.base, this.memory, this.#state, ...this.#left])
  }
}
