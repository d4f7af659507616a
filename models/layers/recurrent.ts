/** What bidirectional recurrent layers have in common, with PyTorch's layout of weights. */
import { gatherRows, tf, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'

/** Steps in one call: on a GPU the call itself takes longer than its computation. */
export const STEPS_PER_CALL = 16

const DIRECTIONS = ['', '_reverse'] as const

/** Reads the weights `name` of the first layer for both directions, [2, …shape]. */
export const readDirections = (weights: Weights, name: string, shape: readonly number[]): Tensor =>
  tf.stack(DIRECTIONS.map((direction) => weights.get(`${name}_l0${direction}`, shape)))

/** Reverses the first axis. */
export const reverseTime = (x: Tensor): Tensor =>
  tf.tidy(() => {
    const last = x.shape[0]! - 1
    const places = Array.from({ length: last + 1 }, (_, i) => last - i)
    return gatherRows(x, tf.tensor1d(places, 'int32'))
  })
