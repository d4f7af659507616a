/** Checkpoints of AudioSep as their authors publish them, by PyTorch Lightning. */
import type { StoredTensor } from '../checkpoint/stored-tensor.ts'
import { readTorchFile, stateDictOf } from '../checkpoint/torch-checkpoint.ts'
import type { Weights } from '../checkpoint/weights.ts'

/**
 * The tensors under `state_dict`; what training left beside them is not read.
 * @throws Error naming the file when it is damaged, or no checkpoint of Lightning's
 */
export function openAudioSepCheckpoint(file: string): ReadonlyMap<string, StoredTensor> {
  const root = readTorchFile(file)
  const stateDict = root instanceof Map ? root.get('state_dict') : undefined
  if (stateDict === undefined) throw new Error(`${file}: has no state_dict, as AudioSep's have`)
  return stateDictOf(file, stateDict)
}

/** Declares what of CLAP belongs to sounds, or to its training. */
export function ignoreUnused(weights: Weights): void {
  const clap = weights.at('query_encoder').at('model')
  for (const part of ['audio_branch', 'audio_transform', 'audio_projection', 'text_transform']) {
    clap.at(part).ignoreAll()
  }
  for (const scale of ['logit_scale_a', 'logit_scale_t']) clap.ignore(scale)
}
