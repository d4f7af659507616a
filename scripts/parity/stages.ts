/** Every comparison with the reference that there is, in the order of the computation. */
import { tf } from '../../models/tensor.ts'
import type { Part } from '../../models/sam-audio/folders.ts'
import type { Comparison } from './comparison.ts'
import type { Reference } from './reference.ts'
import { compareT5 } from './stages/t5.ts'
import { compareTokens } from './stages/tokens.ts'

export interface Stage {
  /** What it reads of the reference: folders, and files in `golden/`. */
  parts: readonly Part[]
  files: readonly string[]
  run(reference: Reference): Promise<Comparison[]>
}

export const STAGES: Readonly<Record<string, Stage>> = {
  tokens: { parts: ['text'], files: ['tokenization.json'], run: compareTokens },
  t5: { parts: ['text'], files: ['t5.safetensors', 't5_buckets.json'], run: compareT5 },
}

/** What of a stage's needs the reference has not. */
export function missingFor(stage: Stage, reference: Reference): string[] {
  return [
    ...stage.parts.filter((part) => !reference.parts[part]).map((part) => `the ${part} part`),
    ...stage.files.filter((file) => !reference.has(file)),
  ]
}

/** Runs a stage and frees its weights. */
export async function runStage(stage: Stage, reference: Reference): Promise<Comparison[]> {
  tf.engine().startScope()
  try {
    return await stage.run(reference)
  } finally {
    tf.engine().endScope()
  }
}
