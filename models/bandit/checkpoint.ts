/** Checkpoints of Bandit v2 as its author publishes them, by PyTorch Lightning. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

export interface BanditCheckpoint {
  /** Names of the outputs, in their order. */
  stems: readonly string[]
  /** Samples of the transform's window. */
  window: number
  /** The network's, without `model.` before their names. */
  tensors: ReadonlyMap<string, StoredTensor>
}

const PREFIX = 'model.'
const WINDOW = `${PREFIX}stft.window`

/** Windows and weights that can be computed, and tensors that are stored under two names. */
const UNUSED = [
  /^i?stft\./,
  /^mask_estim\.[^.]+\.freq_weights\//,
  /^mask_estim\.[^.]+\.norm_mlp\.\d+\.combined\./,
]

/**
 * Reads the names of the tensors, and skips the state of training.
 * @throws Error naming the file when it is damaged, or not a checkpoint of Bandit's
 */
export function openBanditCheckpoint(file: string): BanditCheckpoint {
  const root = readTorchFile(file, { othersAreInert: true })
  const stateDict = root instanceof Map ? root.get('state_dict') : undefined
  if (!(stateDict instanceof Map) || !stateDict.has(WINDOW)) {
    throw new Error(`${file}: is not a checkpoint of Bandit`)
  }
  return banditCheckpoint(stateDictOf(file, stateDict))
}

/** @param all the tensors of a published checkpoint */
export function banditCheckpoint(all: ReadonlyMap<string, StoredTensor>): BanditCheckpoint {
  const own = [...all]
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, tensor]) => [name.slice(PREFIX.length), tensor] as const)
  const stems = own.flatMap(([name]) => /^mask_estim\.([^.]+)\./.exec(name)?.[1] ?? [])
  return {
    stems: [...new Set(stems)],
    window: all.get(WINDOW)!.shape[0] ?? 0,
    tensors: new Map(own.filter(([name]) => !UNUSED.some((pattern) => pattern.test(name)))),
  }
}
