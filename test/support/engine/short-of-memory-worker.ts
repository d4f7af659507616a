/**
 * A compute thread whose device has memory for one lane of mini: a second, or the views of a stereo
 * lane, which are two rows, end as TensorFlow's allocator ends them.
 */

import type { Binding, NativeTensor } from '../../../models/tensorflow/binding.ts'
import { GRAPH_NAME } from '../../../models/graph/recorder.ts'
import { native } from '../../../models/tensorflow/tensor.ts'

const ROWS_MAX = 1

/** Operations, and graphs, whose results are features or streams of all rows of a batch. */
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
