/** One candidate of one chunk on its way from noise to two latent streams. */
import type { Acceleration, Lane, Span } from '../model.ts'
import { tf, type Tensor } from '../tensor.ts'
import type { Flow } from './flow.ts'
import { planStrides, type Stride } from './ode.ts'

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
}

/** Holds what the network is told, and where the flow is. */
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
  #state: Tensor

  /** The lane owns the tensors of `flow` from here on. */
  constructor(flow: Flow, plan: LanePlan) {
    const { mixture, prompt, acceleration, isRanked, predictedSpans } = plan
    this.base = flow.base
    this.memory = flow.memory
    this.#state = flow.state
    this.mixture = mixture
    this.prompt = prompt
    this.isRanked = isRanked
    this.predictedSpans = predictedSpans
    this.steps = STEPS[acceleration]
    this.#strides = planStrides(this.steps)
  }

  get frames(): number {
    return this.#state.shape[1]!
  }

  get state(): Tensor {
    return this.#state
  }

  /** The coming step. */
  get stride(): Stride {
    const stride = this.#strides[this.stepsDone]
    if (!stride) throw new Error('A lane whose steps are done cannot be stepped')
    return stride
  }

  /** Ends a step with the state that it led to, which the lane owns from here on. */
  advance(state: Tensor): void {
    this.#state.dispose()
    this.#state = state
    this.stepsDone += 1
  }

  /** Target and residual, side by side in the channels, as rows: [2, frames, codebookDim]. */
  streams(): Tensor {
    return tf.tidy(() => tf.concat(tf.split(this.#state, 2, 2)))
  }

  dispose(): void {
    tf.dispose([this.base, this.memory, this.#state])
  }
}
