/** Sums up a load: rates, latencies, stages, errors. */

import { build, type Histogram } from 'hdr-histogram-js'
import { round } from '../report.ts'
import type { Outcome } from './drive.ts'

/** The longest latency that is distinguished: a day. */
const MS_MAX = 86_400_000
const SHARES = { p50: 50, p90: 90, p95: 95, p99: 99, p99_9: 99.9, max: 100 }

export type Quantiles = Record<keyof typeof SHARES, number> & { n: number; mean: number }

export interface LoadSummary {
  requests: number
  completed: number
  /** Counts of outcomes other than COMPLETED, by code. */
  errors: Record<string, number>
  /** Completed requests over the time until the last one ended. */
  requests_per_second: number
  audio_seconds_per_second: number
  /** Milliseconds from when a request was due, without requests that were never sent. */
  latency_ms: Quantiles
  latency_ms_by_audio_seconds: Record<string, Quantiles>
  /** Milliseconds, means over the completed requests. */
  stages_ms: Record<string, number>
}

export function summarise(outcomes: readonly Outcome[]): LoadSummary {
  const completed = outcomes.filter(({ code }) => code === 'COMPLETED')
  const sent = outcomes.filter(({ code }) => code !== 'NOT_SENT')
  const endMs = Math.max(1, ...completed.map(({ dueMs, latencyMs }) => dueMs + latencyMs))
  const audio = completed.reduce((sum, { audioSeconds }) => sum + audioSeconds, 0)
  const errors: Record<string, number> = {}
  for (const { code } of outcomes) {
    if (code !== 'COMPLETED') errors[code] = (errors[code] ?? 0) + 1
  }
  const lengths = [...new Set(sent.map(({ audioSeconds }) => audioSeconds))].sort((a, b) => a - b)
  return {
    requests: outcomes.length,
    completed: completed.length,
    errors,
    requests_per_second: round((1_000 * completed.length) / endMs),
    audio_seconds_per_second: round((1_000 * audio) / endMs),
    latency_ms: quantilesOf(sent),
    latency_ms_by_audio_seconds: Object.fromEntries(
      lengths.map((seconds) => [
        String(seconds),
        quantilesOf(sent.filter(({ audioSeconds }) => audioSeconds === seconds)),
      ]),
    ),
    stages_ms: meanStages(completed),
  }
}

/** Builds a histogram of latencies, accurate to three digits. */
function histogramOf(outcomes: readonly Outcome[]): Histogram {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MS_MAX,
    numberOfSignificantValueDigits: 3,
  })
  for (const { latencyMs } of outcomes) histogram.recordValue(Math.min(MS_MAX, latencyMs))
  return histogram
}

function quantilesOf(outcomes: readonly Outcome[]): Quantiles {
  const histogram = histogramOf(outcomes)
  const quantiles = Object.fromEntries(
    Object.entries(SHARES).map(([name, percent]) => [
      name,
      histogram.getValueAtPercentile(percent),
    ]),
  ) as Record<keyof typeof SHARES, number>
  return { n: outcomes.length, mean: round(histogram.mean), ...quantiles }
}

function meanStages(completed: readonly Outcome[]): Record<string, number> {
  const sums = new Map<string, { sum: number; n: number }>()
  for (const { stages = {} } of completed) {
    for (const [name, ms] of Object.entries(stages)) {
      const { sum, n } = sums.get(name) ?? { sum: 0, n: 0 }
      sums.set(name, { sum: sum + ms, n: n + 1 })
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, n }]) => [name, round(sum / n)]))
}
