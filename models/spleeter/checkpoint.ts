/**
 * Reads Spleeter's checkpoints as published by its authors: TensorFlow's `model.index` and its
 * data.
 */
import { openTensorFlowCheckpoint } from '../checkpoint/tensorflow-checkpoint.ts'
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'

/** A step counter of training, which the network does not need. */
const UNUSED = 'global_step'

/**
 * Opens the network's weights, with paths as in `Weights`: `conv2d_1.kernel`.
 * @throws Error naming the file if it is damaged or not a Spleeter checkpoint
 */
export function openSpleeterCheckpoint(index: string): ReadonlyMap<string, StoredTensor> {
  const all = openTensorFlowCheckpoint(index)
  if (!all.has('conv2d_transpose/kernel')) {
    throw new Error(`${index}: is not a checkpoint of Spleeter`)
  }
  const weights = [...all].filter(([name]) => name !== UNUSED)
  return new Map(weights.map(([name, tensor]) => [name.replaceAll('/', '.'), tensor]))
}
