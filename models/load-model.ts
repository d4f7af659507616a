import { choosePrecision } from './bfloat16.ts'
import { loadMini } from './mini/mini.ts'
import type { Model } from './model.ts'
import type { ModelChoice } from './model-choice.ts'
import type { PrecisionChoice } from './precision.ts'
import { loadSamAudio } from './sam-audio/sam-audio.ts'

export interface ModelOptions {
  /**
   * Of the built-in model: holds `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`
   * of its text encoder.
   */
  textEncoderFolder: string
  /** Of the products in the built-in model's blocks, or in SAM-Audio's transformers. */
  precision: PrecisionChoice
}

/** Loads the model chosen. @throws Error when its weights are missing or misshapen */
export function loadModel(choice: ModelChoice, options: ModelOptions): Promise<Model> {
  const precision = choosePrecision(options.precision)
  switch (choice.name) {
    case 'mini':
      return loadMini({ ...options, precision })
    case 'sam-audio':
      return loadSamAudio(choice.folder, precision)
  }
}
