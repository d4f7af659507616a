/** Integrates the flow from noise to sound in midpoint steps (torchdiffeq, method "midpoint"). */
import { tf, type Tensor } from '../../tensorflow/tensor.ts'

/** The time of a row in its flow, from 0 to 1, and its next step. */
export interface Stride {
  time: number
  step: number
}

/** Returns the velocity of every row of a state at the time of the row. */
export type VelocityAt = (state: Tensor, times: readonly number[]) => Tensor

/**
 * Takes one step of every row, each at its own time, with two evaluations. Both the state [batch,
 * frames, channels] and the result of the same shape are freed by the caller.
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

/** Plans a flow with this many steps. */
export const planStrides = (steps: number): Stride[] =>
  Array.from({ length: steps }, (_, i) => ({ time: i / steps, step: 1 / steps }))

/** Returns every time at which flows with these numbers of steps are evaluated. */
export function timesOf(stepCounts: readonly number[]): number[] {
  const times = stepCounts.flatMap((steps) =>
    planStrides(steps).flatMap(({ time, step }) => [time, time + step / 2]),
  )
  return [...new Set(times)].sort((a, b) => a - b)
}
