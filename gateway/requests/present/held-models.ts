/** The models that the engines of an installation hold, and whether all hold the same. */

import type { DescribedModel, EngineDescription } from '../../../shared/engine-control.ts'
import { AUTO, routePrompt } from '../../../shared/prompts/route-prompt.ts'
import { promptsOf, type SeparationOptions } from '../../../shared/separation-options.ts'

interface HeldModel extends DescribedModel {
  /** Engines that hold it. */
  engineIds: string[]
}

/** Each model once, in the order of preference of the engines that hold it. */
export function heldModels(engines: readonly EngineDescription[]): HeldModel[] {
  const held = new Map<string, HeldModel>()
  for (const { engine_id: engineId, models } of engines) {
    for (const model of models) {
      const { engineIds = [] } = held.get(model.name) ?? {}
      held.set(model.name, {
        ...model,
        ...held.get(model.name),
        engineIds: [...engineIds, engineId],
      })
    }
  }
  return [...held.values()]
}

/**
 * Refuses a separator that no engine holds, or that does not answer a prompt. While no engine is
 * known, nothing is refused.
 * @throws ServiceError `INVALID_PARAMETER` that names the models there are
 */
export async function assertSeparator(
  engines: { describe(): Promise<EngineDescription[]> },
  { prompt, options }: { prompt: string; options: SeparationOptions },
): Promise<void> {
  const { separator = AUTO } = options
  if (separator === AUTO) return
  const models = heldModels(await engines.describe())
  if (models.length === 0) return
  for (const each of promptsOf(prompt, options)) routePrompt(each, models, separator)
}

/** In which way the engines differ, as a sentence; null: all hold the same models. */
export function differenceOf(engines: readonly EngineDescription[]): string | null {
  const listOf = ({ models }: EngineDescription) => models.map(({ name }) => name).join(', ')
  const lists = new Map<string, number>()
  for (const engine of engines) lists.set(listOf(engine), (lists.get(listOf(engine)) ?? 0) + 1)
  if (lists.size > 1) {
    const each = [...lists].map(([list, count]) => `${count} with ${list}`)
    return (
      `The engines hold different models (${each.join('; ')}): ` +
      'the model that answers a prompt depends on the engine.'
    )
  }
  const models = engines.flatMap((engine) => engine.models)
  const [first] = models.filter(({ name, weights_sha256: sha256 }) =>
    models.some((other) => other.name === name && other.weights_sha256 !== sha256),
  )
  return first ? `The engines hold different weights of ${first.name}.` : null
}
