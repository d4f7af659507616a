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

/** Returns the interval of the mean. The same values always give the same interval. */
export function meanInterval(values: readonly number[]): Interval {
  const random = seededRandom(values.length)
  return intervalOf(mean(values), () => resampledMean(values, random))
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
  const [logs, baselineLogs] = [values.map(Math.log), baseline.map(Math.log)]
  const draw = () => resampledMean(logs, random) - resampledMean(baselineLogs, random)
  return exponentOf(intervalOf(mean(logs) - mean(baselineLogs), draw))
}

function intervalOf(estimate: number, draw: () => number): Interval {
  const draws = Array.from({ length: RESAMPLES }, draw)
  return { estimate, low: quantile(draws, 0.025), high: quantile(draws, 0.975) }
}

const resampledMean = (values: readonly number[], random: () => number): number =>
  mean(values.map(() => values[Math.floor(random() * values.length)]!))

const exponentOf = ({ estimate, low, high }: Interval): Interval => ({
  estimate: Math.exp(estimate),
  low: Math.exp(low),
  high: Math.exp(high),
})

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
