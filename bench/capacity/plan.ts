/** How many engines a load needs. */

import { meanSeconds, type MixPart } from '../load/mix.ts'
import { fullRate, simulate, type Fleet } from './simulate.ts'

export interface Wanted {
  mix: readonly MixPart[]
  perSecond: number
  /** The limit on latency. */
  p95Seconds: number
}

const ENGINES_MAX = 4_096
/** Of the simulated time. */
const SECONDS = { least: 3_600, requestsMost: 40_000 }

/** The fewest engines that keep the limit; null where none do: a job alone may be longer. */
export function enginesNeeded(fleet: Omit<Fleet, 'engines'>, wanted: Wanted): number | null {
  const { mix, perSecond, p95Seconds } = wanted
  const seconds = Math.min(SECONDS.least, SECONDS.requestsMost / perSecond)
  const isEnough = (engines: number) =>
    simulate({ ...fleet, engines }, { mix, perSecond, seconds, seed: 1 }).p95 <= p95Seconds
  const least = Math.ceil(perSecond / fullRate({ ...fleet, engines: 1 }, meanSeconds(mix)))
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
