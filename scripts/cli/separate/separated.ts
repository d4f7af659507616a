/** Separated media, for its files and its report. */

import type { Result } from '../../../clients/typescript/node.ts'
import type { Files } from './outputs.ts'
import type { Logs } from './separate-io.ts'

/** The result of separating a source. */
export interface SeparatedSource {
  result: Result
  logs: Logs
  /** Commands for users who know that a sound is there although it was not found. */
  advice: readonly string[]
  /** From submit to completion. */
  elapsedSeconds: number
}

/** Media whose outputs are written. */
export interface SeparatedMedia extends SeparatedSource {
  files: Files
}
