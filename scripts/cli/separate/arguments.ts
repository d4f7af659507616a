/** A command line of `separate`, as it was read. */

import type { Submission } from '../../../clients/typescript/node.ts'
import type { Task } from '../../../shared/tasks.ts'
import type { Access } from '../service-access.ts'

export interface Arguments extends Access {
  /** Paths and http(s) URLs. */
  sources: readonly string[]
  /** Own outputs among the files that were named. */
  leftOut: readonly string[]
  /** Named files that cannot be opened, since their names are no UTF-8. */
  unnameable: readonly string[]
  /** One word names one file. */
  isOne: boolean
  /** Each once; none before `withPrompts`, where the task names them. */
  prompts: readonly string[]
  task: Task | undefined
  /** The options as words, for another command of the same kind; secrets are left out. */
  optionWords: readonly string[]
  /** All of the submission but source and prompts. */
  submission: Submission
  folder: string | undefined
  /** Without a dot. */
  extension: string
  /** Files at once. */
  jobs: number
  force: boolean
  strict: boolean
  logs: boolean
  json: boolean
  quiet: boolean
}
