/** Reads `--task`, with a word for each task of the page. */

import type { Client } from '../../../clients/typescript/node.ts'
import { promptsOf, TASKS, type Task } from '../../../shared/tasks.ts'
import { oneOf, UsageError } from '../command.ts'
import type { Arguments } from './arguments.ts'
import { separatorsOf } from './separator.ts'

const WORDS = TASKS.flatMap(({ word }) => word ?? [])

/** @throws UsageError for an unknown word */
export function readTask(text: string | undefined): Task | undefined {
  const word = oneOf('--task', text, WORDS)
  return word === undefined ? undefined : TASKS.find((task) => task.word === word)
}

/**
 * Returns the arguments with the prompts of their task, if none were given.
 * @throws UsageError if the task has none
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
