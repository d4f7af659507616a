/** Confidence intervals by resampling (Efron 1979, the percentile method). */

import { seededRandom } from '../../test/support/basics/random.ts'
import { quantile } from '../report.ts'

const RESAMPLES = 2_000

export interface Interval {
  estimate: number
  /** Bounds of the 95 % interval. */
  low: number
  high: number
}

export const meanInterval = (values: readonly number[]): Interval => intervalOf(values, mean)

/**
 * Returns the interval of `statistic`. It is deterministic: the same values give the same interval.
 */
export function intervalOf<T>(
  values: readonly T[],
  statistic: (values: readonly T[]) => number,
): Interval {
  const random = seededRandom(values.length)
  const estimates = Array.from({ length: RESAMPLES }, () =>
    statistic(values.map(() => values[Math.floor(random() * values.length)]!)),
  )
  return {
    estimate: statistic(values),
    low: quantile(estimates, 0.025),
    high: quantile(estimates, 0.975),
  }
}

/** Ratio of two series measured in turns: the geometric mean of each turn's ratio. */
export function pairedRatio(values: readonly number[], baseline: readonly number[]): Interval {
  const n = Math.min(values.length, baseline.length)
  const logs = Array.from({ length: n }, (_, i) => Math.log(values[i]! / baseline[i]!))
  return exponentOf(meanInterval(logs))
}

/** Ratio of two series measured independently. */
export function unpairedRatio(values: readonly number[], baseline: readonly number[]): Interval {
  const random = seededRandom(values.length + baseline.length)
  const draw = (from: readonly number[]) =>
    mean(from.map(() => Math.log(from[Math.floor(random() * from.length)]!)))
  const estimates = Array.from({ length: RESAMPLES }, () => draw(values) - draw(baseline))
  return exponentOf({
    estimate: mean(values.map(Math.log)) - mean(baseline.map(Math.log)),
    low: quantile(estimates, 0.025),
    high: quantile(estimates, 0.975),
  })
}

const exponentOf = ({ estimate, low, high }: Interval): Interval => ({
  estimate: Math.exp(estimate),
  low: Math.exp(low),
  high: Math.exp(high),
})

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
