/** The flow from noise to sound, in midpoint steps (torchdiffeq, method "midpoint"). */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'

/** A row's time in its flow from 0 to 1, and its next step. */
export interface Stride {
  time: number
  step: number
}

/** The velocity of every row of a state at its time. */
export type VelocityAt = (state: Tensor, times: readonly number[]) => Tensor

/**
 * One step of every row, each at its own place: two evaluations.
 * state [batch, frames, channels] to the same; the caller frees both.
 */
export function midpointStep(
  velocityAt: VelocityAt,
  state: Tensor,
  strides: readonly Stride[],
): Tensor {
  return tf.tidy(() => {
    const steps = tf.tensor3d(
      strides.map(({ step }) => step),
      [strides.length, 1, 1],
    )
    const begin = velocityAt(
      state,
      strides.map(({ time }) => time),
    )
    const middle = state.add(begin.mul(steps.div(2)))
    const there = velocityAt(
      middle,
      strides.map(({ time, step }) => time + step / 2),
    )
    return state.add(there.mul(steps))
  })
}

/** The strides of a flow of so many steps. */
export const planStrides = (steps: number): Stride[] =>
  Array.from({ length: steps }, (_, i) => ({ time: i / steps, step: 1 / steps }))

/** Every time that flows of these numbers of steps come by. */
export function timesOf(stepCounts: readonly number[]): number[] {
  const times = stepCounts.flatMap((steps) =>
    planStrides(steps).flatMap(({ time, step }) => [time, time + step / 2]),
  )
  return [...new Set(times)].sort((a, b) => a - b)
}
