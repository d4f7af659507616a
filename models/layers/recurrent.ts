/** What recurrent layers in both directions have in common, in the form of PyTorch. */
import { gatherRows, tf, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'

/** Steps that one call computes: calls take longer than what they compute on a GPU. */
export const STEPS_PER_CALL = 16

const DIRECTIONS = ['', '_reverse'] as const

/** The first layer's weights called `name` of both directions, [2, …shape]. */
export const readDirections = (weights: Weights, name: string, shape: readonly number[]): Tensor =>
  tf.stack(DIRECTIONS.map((direction) => weights.get(`${name}_l0${direction}`, shape)))

/** The first axis backwards. */
export const reverseTime = (x: Tensor): Tensor =>
  tf.tidy(() => {
    const last = x.shape[0]! - 1
    const places = Array.from({ length: last + 1 }, (_, i) => last - i)
    return gatherRows(x, tf.tensor1d(places, 'int32'))
  })
