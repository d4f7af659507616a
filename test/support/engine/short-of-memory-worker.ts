/**
 * A compute worker whose device has memory for just one mono lane of mini. A second lane, or a
 * stereo lane, which takes two rows, fails with the error of TensorFlow's allocator.
 */

import type { Binding, NativeTensor } from '../../../models/tensorflow/binding.ts'
import { GRAPH_NAME } from '../../../models/graph/recorder.ts'
import { native } from '../../../models/tensorflow/tensor.ts'

const ROWS_MAX = 1

/** Tells whether the results of an operation or graph hold all rows of a batch. */
const holdsRows = (name: string): boolean => name === 'ConcatV2' || name.startsWith(GRAPH_NAME)
const isTooLarge = ({ shape }: NativeTensor): boolean => shape.length === 4 && shape[0]! > ROWS_MAX

const { binding } = native
const executeOp: Binding['executeOp'] = (name, attributes, ids, outputs) => {
  const answer = binding.executeOp(name, attributes, ids, outputs)
  const tooLarge = holdsRows(name) && answer.find(isTooLarge)
  if (!tooLarge) return answer
  for (const { id } of answer) binding.deleteTensor(id)
  throw new Error(
    `Invalid TF_Status: 8\nMessage: OOM when allocating tensor with shape[${tooLarge.shape}] and type float ` +
      'on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc',
  )
}
native.binding = Object.create(binding, { executeOp: { value: executeOp } }) as Binding
await import('../../../engine/compute/compute-worker.ts')
