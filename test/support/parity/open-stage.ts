import type { Comparison } from './comparison.ts'
import type { GoldenFolder } from './golden-folder.ts'

/** A stage of an open model, whose folder has its goldens next to `model/`. */
export interface OpenStage {
  /** The files of tensors that it compares. */
  files: readonly string[]
  run(golden: GoldenFolder): Promise<Comparison[]>
}
