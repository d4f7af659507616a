/** Checkpoints of AudioSep as their authors publish them, by PyTorch Lightning. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/**
 * Returns all tensors under `state_dict`, and skips the state of training.
 * @throws Error naming the file when it is damaged, or not a checkpoint of Lightning's
 */
export function openAudioSepCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file)
  const stateDict = root instanceof Map ? root.get('state_dict') : undefined
  if (stateDict === undefined) throw new Error(`${file}: has no state_dict, as AudioSep's have`)
  return stateDictOf(file, stateDict)
}

/** Tensors of CLAP's sound branch, of training, and constants that can be computed. */
const UNUSED = [
  /^ss_model\.base\.i?stft\./,
  /^ss_model\.base\.decoder_block\d\.bn2\./,
  /^ss_model\.film\.decoder_block\d->beta2\./,
  /^query_encoder\.model\.(audio_|text_transform|logit_scale_)/,
  /\.num_batches_tracked$/,
  /\.position_ids$/,
]

/** True for a tensor of a published checkpoint that the network computes with. */
export const isUsedTensor = (name: string): boolean => !UNUSED.some((pattern) => pattern.test(name))
