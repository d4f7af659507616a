/** Reads checkpoints of SCNet: bare tensors, or wrapped as its author and others save them. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/** Keys under which the tensors may be wrapped, the preferred one first. */
const WRAPPERS = ['best_state', 'state', 'state_dict']
/** Training on several GPUs puts this before every name. */
const PREFIX = 'module.'
const FIRST_WEIGHT = 'encoder.0.SDlayer.convs.0.weight'

/**
 * Reads the names of the tensors, and skips the training state.
 * @throws Error naming the file if it is damaged or not an SCNet checkpoint
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
