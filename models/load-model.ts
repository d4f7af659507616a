import { loadAudioSep } from './audiosep/audiosep.ts'
import { choosePrecision } from './tensorflow/bfloat16.ts'
import { loadHTDemucs } from './htdemucs/htdemucs.ts'
import { readRecord } from './installed/record.ts'
import { loadMini } from './mini/mini.ts'
import type { Model } from './model.ts'
import type { ModelChoice } from './model-choice.ts'
import type { PrecisionChoice } from './tensorflow/precision.ts'
import { loadRoformer } from './roformer/roformer.ts'
import { loadSamAudio } from './sam-audio/sam-audio.ts'
import { loadScnet } from './scnet/scnet.ts'
import { loadSpleeter } from './spleeter/spleeter.ts'

export interface ModelOptions {
  /**
   * Folder of the built-in model's text encoder: `model.safetensors`, `tokenizer.json` and
   * `tokenizer_config.json`.
   */
  textEncoderFolder: string
  /**
   * Precision of the matrix products in the built-in model's blocks and in SAM-Audio's
   * transformers.
   */
  precision: PrecisionChoice
}

/**
 * Loads a model.
 * @throws Error if its weights are missing or have the wrong shape
 */
export async function loadModel(choice: ModelChoice, options: ModelOptions): Promise<Model> {
  const precision = choosePrecision(options.precision)
  switch (choice.kind) {
    case 'mini':
      return loadMini({ ...options, precision })
    case 'sam-audio':
      return loadSamAudio(choice.folder, precision)
    case 'installed':
      return loadInstalled(choice)
  }
}

/** An installed model is named after its folder, because it is chosen by that name. */
async function loadInstalled({
  name,
  folder,
}: Extract<ModelChoice, { kind: 'installed' }>): Promise<Model> {
  const record = { ...readRecord(folder), name }
  switch (record.kind) {
    case 'htdemucs':
      return loadHTDemucs(folder, record)
    case 'audiosep':
      return loadAudioSep(folder, record)
    case 'roformer':
      return loadRoformer(folder, record)
    case 'spleeter':
      return loadSpleeter(folder, record)
    case 'scnet':
      return loadScnet(folder, record)
  }
}
