/** Finds out whether a queue only grows, and the highest rate that an SLO allows. */

import type { Outcome } from '../load/drive.ts'
import { mean } from './bootstrap.ts'
import { risesSignificantly, type Point } from './fit.ts'

/**
 * A load is split into parts whose means are compared, because a queue's values depend on those
 * just before.
 */
const PARTS = 10
/**
 * Least growth over the load that counts: requests in flight, and latency as a share of its mean.
 */
const GROWTH = { inFlight: 1, latency: 0.2 }

/**
 * Returns whether the load was more than the service can bear: both the requests in flight and the
 * latencies, by due time, rise significantly (guidellm detects over-saturation this way).
 * @param loadMs how long requests arrived
 */
export function isSaturated(outcomes: readonly Outcome[], loadMs: number): boolean {
  const inFlight: Point[] = []
  const latency: Point[] = []
  for (let part = 0; part < PARTS; part += 1) {
    const [from, to] = [(part * loadMs) / PARTS, ((part + 1) * loadMs) / PARTS]
    inFlight.push({ x: part, y: meanInFlight(outcomes, from, to) })
    const due = outcomes.filter(({ dueMs }) => dueMs >= from && dueMs < to)
    // A long file takes long even without a queue, so each length is compared with its own mean.
    if (due.length > 0) latency.push({ x: part, y: mean(due.map(relativeTo(outcomes))) })
  }
  return (
    grows(inFlight, GROWTH.inFlight) &&
    grows(latency, GROWTH.latency * mean(latency.map(({ y }) => y)))
  )
}

function grows(points: readonly Point[], least: number): boolean {
  const half = Math.floor(points.length / 2)
  const meanOf = (part: readonly Point[]) => mean(part.map(({ y }) => y))
  const growth = 2 * (meanOf(points.slice(-half)) - meanOf(points.slice(0, half)))
  return growth >= least && risesSignificantly(points)
}

function meanInFlight(outcomes: readonly Outcome[], fromMs: number, toMs: number): number {
  const inside = outcomes.map(({ dueMs, latencyMs }) =>
    Math.max(0, Math.min(toMs, dueMs + latencyMs) - Math.max(fromMs, dueMs)),
  )
  return inside.reduce((sum, ms) => sum + ms, 0) / (toMs - fromMs)
}

function relativeTo(outcomes: readonly Outcome[]): (outcome: Outcome) => number {
  const means = new Map<number, number>()
  return ({ audioSeconds, latencyMs }) => {
    if (!means.has(audioSeconds)) {
      const sameLength = outcomes.filter((other) => other.audioSeconds === audioSeconds)
      means.set(audioSeconds, mean(sameLength.map((other) => other.latencyMs)))
    }
    return latencyMs / means.get(audioSeconds)!
  }
}

export interface RateResult {
  perSecond: number
  /** Latency of the SLO's share of requests. */
  latencyMs: number
  isSaturated: boolean
  /** Requests that did not complete. */
  failed: number
}

/**
 * Returns the highest rate up to which every measured rate kept the limit; null if the lowest one
 * did not.
 */
export function rateWithin(results: readonly RateResult[], latencyMsMax: number): number | null {
  const ascending = [...results].sort((a, b) => a.perSecond - b.perSecond)
  const isGood = ({ isSaturated, latencyMs, failed }: RateResult) =>
    !isSaturated && failed === 0 && latencyMs <= latencyMsMax
  const firstBad = ascending.findIndex((result) => !isGood(result))
  const good = firstBad === -1 ? ascending : ascending.slice(0, firstBad)
  return good.at(-1)?.perSecond ?? null
}
