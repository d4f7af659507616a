/** Checks the model named by `--separator` before anything is uploaded. */

import { ApiError, type Client } from '../../../clients/typescript/node.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { AUTO, routePrompt, type RoutedModel } from '../../../shared/prompts/route-prompt.ts'
import { UsageError } from '../command.ts'
import type { Arguments } from './arguments.ts'

/** @throws UsageError if the service has no such model, or the model cannot answer a prompt */
export async function assertSeparator(
  client: Pick<Client, 'models'>,
  { prompts, submission }: Pick<Arguments, 'prompts' | 'submission'>,
): Promise<void> {
  const { separator } = submission.input
  if (separator === undefined || separator === null || separator === AUTO) return
  const models = await separatorsOf(client)
  if (models.length === 0) return // the submit decides
  try {
    for (const prompt of prompts) routePrompt(prompt, models, separator)
  } catch (error) {
    throw error instanceof ServiceError ? new UsageError(error.message) : error
  }
}

/** Returns the models; empty if the key may not list them, or no engine is known. */
export async function separatorsOf(
  client: Pick<Client, 'models'>,
): Promise<(RoutedModel & { names?: string[] })[]> {
  try {
    const { data } = await client.models()
    return data.flatMap(({ separators = [] }) => separators)
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return []
    throw error
  }
}
