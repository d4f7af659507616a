/** Spleeter's checkpoints as its authors publish them: TensorFlow's `model.index` and its data. */
import { openTensorFlowCheckpoint } from '../checkpoint/tensorflow-checkpoint.ts'
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'

/** A count of training, which the network does not need. */
const UNUSED = 'global_step'

/**
 * The network's weights, named as `Weights` names paths: `conv2d_1.kernel`.
 * @throws Error naming the file when it is damaged, or no checkpoint of Spleeter's
 */
export function openSpleeterCheckpoint(index: string): ReadonlyMap<string, StoredTensor> {
  const all = openTensorFlowCheckpoint(index)
  if (!all.has('conv2d_transpose/kernel')) {
    throw new Error(`${index}: is not a checkpoint of Spleeter`)
  }
  const weights = [...all].filter(([name]) => name !== UNUSED)
  return new Map(weights.map(([name, tensor]) => [name.replaceAll('/', '.'), tensor]))
}
