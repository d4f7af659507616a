/** A scheduler for each compute, so that a long step of one model delays no other's. */

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
  /** Counts of computes that have ended. */
  #ended: SchedulerStats = { lanes: 0, stepsTotal: 0, laneStepsTotal: 0, framesTotal: 0 }

  /** @param budgets of the models, by name; those of models that are loaded later are added */
  constructor(
    computes: Pick<Computes, 'of'>,
    budgets: ReadonlyMap<string, BatchBudget>,
    observer: SchedulerObserver,
  ) {
    this.#computes = computes
    this.#budgets = budgets
    this.#observer = observer
  }

  /** As `Scheduler.separate`, on the compute of its model; one that restarts is waited for. */
  separate(order: ChunkOrder, owner: LaneOwner, options: LaneOptions): Promise<HeadResult[]> {
    return untilAborted(options.signal, async () => {
      await this.#computes.of(order.model).restarting
      return this.#of(this.#computes.of(order.model)).separate(order, owner, options)
    })
  }

  /** Over all computes. */
  stats(): SchedulerStats {
    return [...this.#schedulers.values()].map((each) => each.stats()).reduce(add, this.#ended)
  }

  /** A compute has ended: no lane of it is open. */
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
