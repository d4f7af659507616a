/** The batch budget of each model that an engine holds. */

import { TAGGER } from '../../models/tagger/config.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { budgetOf, type BatchBudget } from './batch-budget.ts'
import type { LoadedModel } from './compute-messages.ts'
import type { Computes } from './computes.ts'

export class Budgets {
  readonly #computes: Pick<Computes, 'models' | 'thread'>
  readonly #log: Logger
  #configured: number | 'auto'
  /** By name of the model, including the tagger. */
  readonly byModel = new Map<string, BatchBudget>()

  /** @param configured the setting, which does not apply to the tagger */
  constructor(
    computes: Pick<Computes, 'models' | 'thread'>,
    configured: number | 'auto',
    log: Logger,
  ) {
    this.#computes = computes
    this.#configured = configured
    this.#log = log
    const { tagger } = computes.thread.ready
    if (tagger) this.#add(tagger, 'auto')
    this.fit()
  }

  /** Adds budgets for new models, and fits all again if they share the memory of a GPU. */
  fit(): void {
    for (const model of this.#computes.models) {
      const isNew = !this.byModel.has(model.description.name)
      if (isNew || model.framesFitting !== null) this.#add(model, this.#configured)
    }
  }

  /** Sets the budget of each model, including models that are loaded later. */
  set(framesMax: number): void {
    this.#configured = framesMax
    for (const [name, budget] of this.byModel) if (name !== TAGGER) budget.framesMax = framesMax
  }

  #add(model: LoadedModel, configured: number | 'auto'): void {
    this.byModel.set(model.description.name, budgetOf(model, configured, this.#log))
  }
}
