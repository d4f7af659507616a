/** Checkpoints of RoFormer: tensors alone, or wrapped as some who train them save them. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/** Names under which the tensors are wrapped. */
const WRAPPERS = ['state_dict', 'state']

/** @throws Error naming the file when it is damaged, or holds something else */
export function openRoformerCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file)
  const wrapper =
    root instanceof Map ? WRAPPERS.find((name) => root.get(name) instanceof Map) : null
  return stateDictOf(file, wrapper ? (root as Map<unknown, unknown>).get(wrapper) : root)
}
