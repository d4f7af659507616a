import type { Comparison } from './comparison.ts'
import type { GoldenFolder } from './golden-folder.ts'

/** A stage of an open model, whose folder has the goldens next to `model/`. */
export interface OpenStage {
  /** The files of tensors that the stage compares. */
  files: readonly string[]
  run(golden: GoldenFolder): Promise<Comparison[]>
}
