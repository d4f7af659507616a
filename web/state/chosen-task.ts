/** The chosen task, which fills in the form and says which output is kept. */

import { signal } from '@preact/signals'
import type { Result, Submission } from '../../clients/typescript/client.ts'
import {
  metadataOf,
  promptsOf,
  sideOf,
  TASKS,
  type PreferredOutput,
  type Task,
} from '../../shared/tasks.ts'
import { options, prompts } from './draft.ts'
import { separators } from './separators.ts'

export const task = signal<Task>(TASKS[0])

export const taskMetadata = (): Pick<Submission, 'metadata'> => metadataOf(task.value)

export const taskSide = (): Pick<Submission['input'], 'side'> => sideOf(task.value)

export const preferredOutputOf = ({ metadata }: Pick<Result, 'metadata'>): PreferredOutput =>
  metadata?.keeps === 'residual' ? 'residual' : 'target'

/** Fills in the form. */
export function chooseTask(next: Task): void {
  task.value = next
  const taskPrompts = promptsOf(next, separators.value)
  prompts.value = taskPrompts.length > 0 ? taskPrompts : ['']
  const { output_format: _old, ...rest } = options.value
  options.value = next.format === 'wav' ? rest : { ...rest, output_format: next.format }
}
