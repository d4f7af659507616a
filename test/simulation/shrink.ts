/** Finds a short history that still fails, by leaving out faults and actions. */

import type { RunOptions, RunResult } from './run.ts'
import { Violation } from './violation.ts'

/** Limit on the runs of a search. */
const RUNS_MAX = 400

type Run = (options: RunOptions) => Promise<RunResult>

const invariantOf = ({ violation }: RunResult): string | undefined =>
  violation instanceof Violation ? violation.invariant : violation?.name

const itemsOf = ({ actions, faults }: RunResult): string[] => [...actions, ...faults]

/**
 * Leaves out halves, then quarters and so on of the faults and actions, as long as the same invariant
 * fails (delta debugging: Zeller and Hildebrandt 2002).
 * @returns the names of those that are needed
 */
export async function shrink(run: Run, failing: RunResult, steps?: number): Promise<string[]> {
  const { seed } = failing
  const invariant = invariantOf(failing)
  let items = itemsOf(failing)
  let parts = 2
  let runs = 0
  while (items.length > 1 && runs < RUNS_MAX) {
    const size = Math.ceil(items.length / parts)
    let shorter: string[] | undefined
    for (let from = 0; from < items.length && !shorter && runs < RUNS_MAX; from += size) {
      const only = new Set([...items.slice(0, from), ...items.slice(from + size)])
      const result = await run({ seed, only, ...(steps !== undefined && { steps }) })
      runs += 1
      // Whatever did not happen this time is not needed.
      if (invariantOf(result) === invariant) shorter = itemsOf(result)
    }
    if (shorter) {
      items = shorter
      parts = Math.max(2, parts - 1)
    } else if (size === 1) break
    else parts = Math.min(items.length, 2 * parts)
  }
  return items
}
