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
   * The built-in model's: holds `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`
   * of its text encoder.
   */
  textEncoderFolder: string
  /** For products in the built-in model's blocks, or in SAM-Audio's transformers. */
  precision: PrecisionChoice
}

/** Loads the model chosen. @throws Error when its weights are missing or misshapen */
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

/** Its name is that of its folder, by which it is chosen. */
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
