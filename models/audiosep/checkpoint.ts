/** Checkpoints of AudioSep as their authors publish them, by PyTorch Lightning. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'

/**
 * The tensors under `state_dict`, all of them; what training left beside them is not read.
 * @throws Error naming the file when it is damaged, or no checkpoint of Lightning's
 */
export function openAudioSepCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file)
  const stateDict = root instanceof Map ? root.get('state_dict') : undefined
  if (stateDict === undefined) throw new Error(`${file}: has no state_dict, as AudioSep's have`)
  return stateDictOf(file, stateDict)
}

/** What belongs to sounds in CLAP, to training, or can be computed. */
const UNUSED = [
  /^ss_model\.base\.i?stft\./,
  /^ss_model\.base\.decoder_block\d\.bn2\./,
  /^ss_model\.film\.decoder_block\d->beta2\./,
  /^query_encoder\.model\.(audio_|text_transform|logit_scale_)/,
  /\.num_batches_tracked$/,
  /\.position_ids$/,
]

/** Whether anything is computed with a tensor of a published checkpoint. */
export const isUsedTensor = (name: string): boolean => !UNUSED.some((pattern) => pattern.test(name))
