/** Reads checkpoints of RoFormer: bare tensors, or wrapped as some training programs save them. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/** Keys under which the tensors may be wrapped. */
const WRAPPERS = ['state_dict', 'state']

/** @throws Error naming the file if it is damaged or contains something else */
export function openRoformerCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file)
  const wrapper =
    root instanceof Map ? WRAPPERS.find((name) => root.get(name) instanceof Map) : null
  return stateDictOf(file, wrapper ? (root as Map<unknown, unknown>).get(wrapper) : root)
}
