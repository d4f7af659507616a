/** How many engines a load needs. */

import { meanSeconds, type MixPart } from '../load/mix.ts'
import { fullRate, simulate, type Fleet } from './simulate.ts'

export interface CapacityGoal {
  mix: readonly MixPart[]
  perSecond: number
  /** The limit on latency. */
  p95Seconds: number
}

const ENGINES_MAX = 10_000
/** Length of the simulated time. */
const SECONDS = { least: 300, most: 3_600, requests: 20_000 }
/** Nearer to all that they could do, a fleet's queue depends on how long one looks. */
const LOAD_MAX = 0.95

/** The fewest engines that keep the limit; null where none do: a job alone may be longer. */
export function enginesNeeded(fleet: Omit<Fleet, 'engines'>, wanted: CapacityGoal): number | null {
  const { mix, perSecond, p95Seconds } = wanted
  const wantedSeconds = Math.min(SECONDS.most, SECONDS.requests / perSecond)
  const seconds = Math.max(SECONDS.least, wantedSeconds)
  const isEnough = (engines: number) =>
    simulate({ ...fleet, engines }, { mix, perSecond, seconds, seed: 1 }).p95 <= p95Seconds
  const rateMax = LOAD_MAX * fullRate({ ...fleet, engines: 1 }, meanSeconds(mix))
  const least = Math.ceil(perSecond / rateMax)
  let most = Math.max(1, least)
  while (!isEnough(most)) {
    most = Math.ceil(1.25 * most) + 1
    if (most > ENGINES_MAX || most > 4 * least + 8) return null
  }
  let tooFew = Math.max(0, least - 1)
  while (most - tooFew > 1) {
    const middle = Math.floor((tooFew + most) / 2)
    if (isEnough(middle)) most = middle
    else tooFew = middle
  }
  return most
}
