/** Checkpoints of SCNet: tensors alone, or wrapped as its author and others save them. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/** Names under which the tensors are wrapped, the preferred first. */
const WRAPPERS = ['best_state', 'state', 'state_dict']
/** Several GPUs together put it before every name. */
const PREFIX = 'module.'
const FIRST_WEIGHT = 'encoder.0.SDlayer.convs.0.weight'

/**
 * Reads the names of the tensors, and skips the state of training.
 * @throws Error naming the file when it is damaged, or not a checkpoint of SCNet
 */
export function openScnetCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file, { othersAreInert: true })
  const wrapped =
    root instanceof Map ? WRAPPERS.map((name) => root.get(name)).find(isDictionary) : undefined
  const states = wrapped ?? root
  const names = states instanceof Map ? [...states.keys()].map(bare) : []
  if (!names.includes(FIRST_WEIGHT)) throw new Error(`${file}: is not a checkpoint of SCNet`)
  return new Map([...stateDictOf(file, states)].map(([name, tensor]) => [bare(name), tensor]))
}

const isDictionary = (value: unknown): boolean => value instanceof Map

const bare = (name: unknown): string =>
  String(name).startsWith(PREFIX) ? String(name).slice(PREFIX.length) : String(name)
