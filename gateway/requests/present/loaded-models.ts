/**
 * Lists the models that the engines of an installation hold, and tells whether all of them hold the
 * same.
 */

import type { DescribedModel, EngineDescription } from '../../../shared/engine-control.ts'
import { AUTO, routePrompt } from '../../../shared/prompts/route-prompt.ts'
import { promptsOf, type SeparationOptions } from '../../../shared/separation-options.ts'

interface LoadedModel extends DescribedModel {
  engineIds: string[]
}

/** Returns each model once, in the order in which the engines prefer them. */
export function loadedModels(engines: readonly EngineDescription[]): LoadedModel[] {
  const loaded = new Map<string, LoadedModel>()
  for (const { engine_id: engineId, models } of engines) {
    for (const model of models) {
      const entry = loaded.get(model.name) ?? { ...model, engineIds: [] }
      entry.engineIds.push(engineId)
      loaded.set(model.name, entry)
    }
  }
  return [...loaded.values()]
}

/**
 * Refuses a separator that no engine holds, or that cannot answer a prompt. Refuses nothing while
 * no engine is known.
 * @throws ServiceError `INVALID_PARAMETER` that names the available models
 */
export async function assertSeparator(
  engines: { describe(): Promise<EngineDescription[]> },
  { prompt, options }: { prompt: string; options: SeparationOptions },
): Promise<void> {
  const { separator = AUTO } = options
  if (separator === AUTO) return
  const models = loadedModels(await engines.describe())
  if (models.length === 0) return
  for (const text of promptsOf(prompt, options)) routePrompt(text, models, separator)
}

/** Returns a sentence that says how the engines differ, or null if all hold the same models. */
export function differenceOf(engines: readonly EngineDescription[]): string | null {
  const listOf = ({ models }: EngineDescription) => models.map(({ name }) => name).join(', ')
  const lists = new Map<string, number>()
  for (const engine of engines) lists.set(listOf(engine), (lists.get(listOf(engine)) ?? 0) + 1)
  if (lists.size > 1) {
    const descriptions = [...lists].map(([list, count]) => `${count} with ${list}`)
    return (
      `The engines hold different models (${descriptions.join('; ')}): ` +
      'the model that answers a prompt depends on the engine.'
    )
  }
  const models = engines.flatMap((engine) => engine.models)
  const [first] = models.filter(({ name, weights_sha256: sha256 }) =>
    models.some((other) => other.name === name && other.weights_sha256 !== sha256),
  )
  return first ? `The engines hold different weights of ${first.name}.` : null
}
