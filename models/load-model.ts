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
  /** Of SAM-Audio's transformer; the built-in model is too small to gain by it. */
  precision: PrecisionChoice
}

/** Loads the model chosen. @throws Error when its weights are missing or misshapen */
export function loadModel(choice: ModelChoice, options: ModelOptions): Promise<Model> {
  switch (choice.name) {
    case 'mini':
      return loadMini(options)
    case 'sam-audio':
      return loadSamAudio(choice.folder, choosePrecision(options.precision))
  }
}
