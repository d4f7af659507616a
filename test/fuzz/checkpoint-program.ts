/** Runs in a `LimitedProcess`: reads every tensor of a checkpoint. */

import { answerCalls } from '../../engine/media/process/process-rpc-server.ts'
import { openSafetensors } from '../../models/checkpoint/safetensors.ts'
import { openTorchCheckpoint } from '../../models/checkpoint/torch-checkpoint.ts'

/** Resolves with the count of numbers in the file, or with the message that refuses it. */
answerCalls<string>(async (file) => {
  try {
    let numbers = 0
    const open = file.endsWith('.safetensors') ? openSafetensors : openTorchCheckpoint
    for (const tensor of open(file).values()) numbers += tensor.values().length
    return { numbers }
  } catch (error) {
    return { refusal: (error as Error).message, isPlain: (error as Error).constructor === Error }
  }
})
