import { loadMini } from './mini/mini.ts'
import type { Model } from './model.ts'
import type { ModelChoice } from './names.ts'
import { loadSamAudio } from './sam-audio/sam-audio.ts'

export interface ModelFolders {
  /**
   * Of the built-in model: holds `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`
   * of its text encoder.
   */
  textEncoderFolder: string
}

/** Loads the model chosen. @throws Error when its weights are missing or misshapen */
export function loadModel(choice: ModelChoice, folders: ModelFolders): Promise<Model> {
  switch (choice.name) {
    case 'mini': return loadMini(folders)
    case 'sam-audio': return loadSamAudio(choice.folder)
  }
}
