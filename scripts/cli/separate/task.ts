/** Reads `--task`: the tasks of the page, by a word each. */

import type { Client } from '../../../clients/typescript/node.ts'
import { promptsOf, TASKS, type Task } from '../../../shared/tasks.ts'
import { oneOf, UsageError } from '../command.ts'
import type { Arguments } from './arguments.ts'
import { separatorsOf } from './separator.ts'

const WORDS = TASKS.flatMap(({ word }) => word ?? [])

/** @throws UsageError for a word that names none */
export function readTask(text: string | undefined): Task | undefined {
  const word = oneOf('--task', text, WORDS)
  return word === undefined ? undefined : TASKS.find((task) => task.word === word)
}

/**
 * The arguments with the prompts of their task, where none were given.
 * @throws UsageError when the task has none
 */
export async function withPrompts(
  args: Arguments,
  client: Pick<Client, 'models'>,
): Promise<Arguments> {
  const { task, prompts } = args
  if (!task || prompts.length > 0) return args
  const models = task.prompts === 'stems' ? await separatorsOf(client) : []
  const asked = promptsOf(task, models)
  if (asked.length > 0) return { ...args, prompts: asked }
  throw new UsageError(`--task ${task.word} needs prompts here: name the sounds in quotes`)
}
