/** The budgets of a batch of each model that an engine holds. */

import { TAGGER } from '../../models/tagger/config.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { budgetsOf, type BatchBudget } from './batch-budget.ts'
import type { Computes } from './computes.ts'

export class Budgets {
  readonly #computes: Pick<Computes, 'models' | 'thread'>
  readonly #log: Logger
  #configured: number | 'auto'
  /** By the names of the models, the tagger's among them. */
  readonly byModel = new Map<string, BatchBudget>()

  /** @param configured as the setting has it, which is not for the tagger */
  constructor(
    computes: Pick<Computes, 'models' | 'thread'>,
    configured: number | 'auto',
    log: Logger,
  ) {
    this.#computes = computes
    this.#configured = configured
    this.#log = log
    const { tagger } = computes.thread.ready
    this.#add(budgetsOf(tagger ? [tagger] : [], 'auto', log))
    this.fit()
  }

  /** Adds those of models that are new; on a GPU all have less memory left then. */
  fit(): void {
    const models = this.#computes.models.filter(
      ({ description, framesFitting }) =>
        framesFitting !== null || !this.byModel.has(description.name),
    )
    this.#add(budgetsOf(models, this.#configured, this.#log))
  }

  /** Sets that of each model, and of those that come. */
  set(framesMax: number): void {
    this.#configured = framesMax
    for (const [name, budget] of this.byModel) if (name !== TAGGER) budget.framesMax = framesMax
  }

  #add(budgets: ReadonlyMap<string, BatchBudget>): void {
    for (const [name, budget] of budgets) this.byModel.set(name, budget)
  }
}
