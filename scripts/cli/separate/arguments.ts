/** The command line of `separate`, parsed. */

import type { Submission } from '../../../clients/typescript/node.ts'
import type { Task } from '../../../shared/tasks.ts'
import type { Access } from '../service-access.ts'

export interface Arguments extends Access {
  /** Paths and http(s) URLs. */
  sources: readonly string[]
  /** Outputs of earlier runs among the named files. */
  leftOut: readonly string[]
  /** Named files that cannot be opened, because their names are not UTF-8. */
  unnameable: readonly string[]
  /** Whether a single word names a single file. */
  isSingleFile: boolean
  /** Without duplicates; empty before `withPrompts` if the task names them. */
  prompts: readonly string[]
  task: Task | undefined
  /** The options as words for a similar command, without secrets. */
  optionWords: readonly string[]
  /** The submission without source and prompts. */
  submission: Submission
  folder: string | undefined
  /** Without the dot. */
  extension: string
  /** How many files are processed at once. */
  jobs: number
  force: boolean
  strict: boolean
  logs: boolean
  json: boolean
  quiet: boolean
}
