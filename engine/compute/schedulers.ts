/** One scheduler for each compute, so that a long step of one model does not delay the others. */

import type { HeadResult } from '../../models/model.ts'
import type { BatchBudget } from './batch-budget.ts'
import type { ChunkOrder } from './compute-messages.ts'
import type { Computes } from './computes.ts'
import {
  Scheduler,
  untilAborted,
  type LaneOptions,
  type LaneOwner,
  type SchedulerObserver,
  type SchedulerStats,
} from './scheduler.ts'

type Compute = ReturnType<Computes['of']>

export class Schedulers {
  readonly #computes: Pick<Computes, 'of'>
  readonly #budgets: ReadonlyMap<string, BatchBudget>
  readonly #observer: SchedulerObserver
  readonly #schedulers = new Map<Compute, Scheduler>()
  /** Statistics of computes that have ended. */
  #ended: SchedulerStats = { lanes: 0, stepsTotal: 0, laneStepsTotal: 0, framesTotal: 0 }

  /** @param budgets by name of the model; later models are added */
  constructor(
    computes: Pick<Computes, 'of'>,
    budgets: ReadonlyMap<string, BatchBudget>,
    observer: SchedulerObserver,
  ) {
    this.#computes = computes
    this.#budgets = budgets
    this.#observer = observer
  }

  /** Like `Scheduler.separate`, on the compute of the model; waits for it if it restarts. */
  separate(order: ChunkOrder, owner: LaneOwner, options: LaneOptions): Promise<HeadResult[]> {
    return untilAborted(options.signal, async () => {
      await this.#computes.of(order.model).restarting
      return this.#of(this.#computes.of(order.model)).separate(order, owner, options)
    })
  }

  /** Totals of all computes. */
  stats(): SchedulerStats {
    return [...this.#schedulers.values()]
      .map((scheduler) => scheduler.stats())
      .reduce(add, this.#ended)
  }

  /** Reports that a compute has ended and none of its lanes are open. */
  ended(compute: Compute): void {
    const scheduler = this.#schedulers.get(compute)
    if (scheduler) this.#ended = { ...add(this.#ended, scheduler.stats()), lanes: 0 }
    this.#schedulers.delete(compute)
  }

  #of(compute: Compute): Scheduler {
    const existing = this.#schedulers.get(compute)
    if (existing) return existing
    const scheduler = new Scheduler(compute, this.#budgets, this.#observer)
    this.#schedulers.set(compute, scheduler)
    return scheduler
  }
}

const add = (a: SchedulerStats, b: SchedulerStats): SchedulerStats => ({
  lanes: a.lanes + b.lanes,
  stepsTotal: a.stepsTotal + b.stepsTotal,
  laneStepsTotal: a.laneStepsTotal + b.laneStepsTotal,
  framesTotal: a.framesTotal + b.framesTotal,
})
