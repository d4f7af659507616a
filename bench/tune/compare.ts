/** Checks whether a search found the service slower than an earlier one did. */

import { unpairedRatio, type Interval } from '../statistics/bootstrap.ts'
import { keyOf, type Candidate } from './candidates.ts'
import type { Header, Run } from './journal.ts'
import { GAIN_MIN } from './search.ts'
import type { WorkResult } from './services.ts'

export interface ComparedCandidate {
  candidate: Candidate
  /** Ratio of the speed now to the speed then. */
  ratio: Interval
  isRegression: boolean
}

interface TuneRecord {
  header: Header
  runs: readonly Run[]
}

/** A comparison needs this many values of each side. */
const VALUES_MIN = 3

/**
 * Compares the candidates that both searches measured saturated, at the end. A regression is
 * significant (95 %) and at least 3 %.
 * @throws Error if the machine, the load or the model differs
 */
export function compareRuns(now: TuneRecord, then: TuneRecord): ComparedCandidate[] {
  for (const name of ['machine', 'mix', 'model']) {
    const [ours, theirs] = [now, then].map(({ header }) => JSON.stringify(header[name]))
    if (ours !== theirs) throw new Error(`not comparable: ${name} is ${ours}, and was ${theirs}`)
  }
  const earlier = speedsOf(then.runs)
  const compared = [...speedsOf(now.runs).values()].flatMap(({ candidate, speeds }) => {
    const before = earlier.get(keyOf(candidate))?.speeds ?? []
    if (Math.min(speeds.length, before.length) < VALUES_MIN) return []
    const ratio = unpairedRatio(speeds, before)
    const isRegression = ratio.high < 1 && ratio.estimate <= 1 - GAIN_MIN
    return [{ candidate, ratio, isRegression }]
  })
  if (compared.length === 0) throw new Error('not comparable: no settings were measured by both')
  return compared
}

function speedsOf(runs: readonly Run[]) {
  const speedsByKey = new Map<string, { candidate: Candidate; speeds: number[] }>()
  for (const { key, result } of runs) {
    if (key.phase !== 'saturated') continue
    const candidate = key.candidate as Candidate
    const speeds = speedsByKey.get(keyOf(candidate))?.speeds ?? []
    speeds.push((result as WorkResult).audio_seconds_per_second)
    speedsByKey.set(keyOf(candidate), { candidate, speeds })
  }
  return speedsByKey
}
