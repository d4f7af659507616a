/** Reads checkpoints of AudioSep as published by its authors, in PyTorch Lightning's format. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/**
 * Returns all tensors under `state_dict`, and skips the training state.
 * @throws Error naming the file if it is damaged or not a Lightning checkpoint
 */
export function openAudioSepCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file)
  const stateDict = root instanceof Map ? root.get('state_dict') : undefined
  if (stateDict === undefined) throw new Error(`${file}: has no state_dict, as AudioSep's have`)
  return stateDictOf(file, stateDict)
}

/** Tensors of CLAP's audio branch, of training, and constants that can be computed. */
const UNUSED = [
  /^ss_model\.base\.i?stft\./,
  /^ss_model\.base\.decoder_block\d\.bn2\./,
  /^ss_model\.film\.decoder_block\d->beta2\./,
  /^query_encoder\.model\.(audio_|text_transform|logit_scale_)/,
  /\.num_batches_tracked$/,
  /\.position_ids$/,
]

/** Whether the network computes with this tensor of a published checkpoint. */
export const isUsedTensor = (name: string): boolean => !UNUSED.some((pattern) => pattern.test(name))
