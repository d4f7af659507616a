/** What is known about a model that could be loaded, without loading it. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModelChoice } from '../model-choice.ts'
import { readRecord, weightFilesOf } from './record.ts'

export interface ModelFacts {
  /** The kind of network; for built-in models, the model's name. */
  kind: string
  /** Total size of its weight files; 0 if unknown. */
  bytes: number
  /** What is known about the licence of its weights, in sentences; empty if nothing is. */
  licence: string
}

const MINI_WEIGHTS = fileURLToPath(new URL('../mini/weights/model.safetensors', import.meta.url))
const MINI_LICENCE = 'Apache-2.0, like the code.'

/** @throws Error naming a file that cannot be read */
export function factsOf(choice: ModelChoice): ModelFacts {
  switch (choice.kind) {
    case 'mini':
      return { kind: 'mini', bytes: statSync(MINI_WEIGHTS).size, licence: MINI_LICENCE }
    case 'sam-audio':
      return { kind: 'sam-audio', bytes: 0, licence: '' }
    case 'installed': {
      const record = readRecord(choice.folder)
      const sizes = weightFilesOf(record).map((file) => statSync(join(choice.folder, file)).size)
      return {
        kind: record.kind,
        bytes: sizes.reduce((sum, size) => sum + size, 0),
        licence: record.licence,
      }
    }
  }
}
