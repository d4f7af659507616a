/** Charts of one load: latencies by share, and requests under way over time. */

import * as Plot from '@observablehq/plot'
import { histogramOf } from '../load/summary.ts'
import type { Outcome } from '../load/drive.ts'
import { chart } from './chart.ts'

const SHARES = Array.from({ length: 200 }, (_, i) => 100 * (1 - 10 ** (-(i + 1) / 66)))
const POINTS = 200

/** How long which share of the requests took, up to 99.9 %. */
export function latencyChart(outcomes: readonly Outcome[]): string {
  const histogram = histogramOf(outcomes.filter(({ code }) => code !== 'NOT_SENT'))
  const points = SHARES.map((percent) => ({
    nines: -Math.log10(1 - percent / 100),
    seconds: histogram.getValueAtPercentile(percent) / 1_000,
  }))
  return chart('Latency by share of the requests', {
    x: { label: 'share of the requests →', ticks: [0.301, 1, 2, 3], tickFormat: percentOf },
    y: { label: '↑ seconds from when it was due', grid: true, zero: true },
    marks: [Plot.line(points, { x: 'nines', y: 'seconds', stroke: 'steelblue', strokeWidth: 2 })],
  })
}

const percentOf = (nines: number): string => `${Number((100 * (1 - 10 ** -nines)).toFixed(1))} %`

export function inFlightChart(outcomes: readonly Outcome[]): string {
  const points = inFlightOverTime(outcomes, POINTS)
  return chart('Requests under way', {
    x: { label: 'seconds from the start →' },
    y: { label: '↑ requests', grid: true, zero: true },
    marks: [Plot.line(points, { x: 'seconds', y: 'inFlight', stroke: 'steelblue', curve: 'step' })],
  })
}

export function inFlightOverTime(outcomes: readonly Outcome[], points: number) {
  const sent = outcomes.filter(({ code }) => code !== 'NOT_SENT')
  const endMs = Math.max(1, ...sent.map(({ dueMs, latencyMs }) => dueMs + latencyMs))
  return Array.from({ length: points }, (_, i) => {
    const at = ((i + 0.5) * endMs) / points
    const isUnderWay = ({ dueMs, latencyMs }: Outcome) => dueMs <= at && at < dueMs + latencyMs
    return { seconds: at / 1_000, inFlight: sent.filter(isUnderWay).length }
  })
}
