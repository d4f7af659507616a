import { loadMini } from './mini/mini.ts'
import type { Model } from './model.ts'
import type { ModelName } from './names.ts'

export interface ModelFolders {
  /** Holds the text encoder's `model.safetensors`, `tokenizer.json` and `tokenizer_config.json`. */
  textEncoderFolder: string
}

/** Loads a model by its name. @throws Error when its weights are missing or misshapen */
export function loadModel(name: ModelName, folders: ModelFolders): Promise<Model> {
  switch (name) {
    case 'mini': return loadMini(folders)
  }
}
