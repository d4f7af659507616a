/** Charts of a search: see `tune`. */

import * as Plot from '@observablehq/plot'
import type { Finalist, TuneResult } from '../tune/tune.ts'
import { chart } from './chart.ts'

const MIB = 2 ** 20
const STAGES = ['submit', 'queue', 'read', 'separate', 'store', 'notice']

export function tuneCharts(result: TuneResult, sloSeconds: number): Record<string, string> {
  return {
    'throughput-latency': throughputChart(result.finalists, sloSeconds),
    pareto: paretoChart(result),
    'step-time': stepChart(result),
    memory: memoryChart(result),
    stages: stagesChart(result),
  }
}

/** Each finalist's rates, to the first that it did not bear. */
function throughputChart(finalists: readonly Finalist[], sloSeconds: number): string {
  const points = finalists.flatMap(({ name, rates, knee }) =>
    rates.map((rate) => ({
      name,
      rate: rate.requests_per_second,
      seconds: rate.latency_ms.p95 / 1_000,
      isKnee: rate.requests_per_second === knee,
      saturated: rate.saturated,
    })),
  )
  return chart('Latency by load: ◯ the knee, × more than is borne', {
    color: { legend: false, domain: finalists.map(({ name }) => name) },
    x: { label: 'requests a second that arrive →', grid: true },
    y: { label: '↑ p95, seconds', type: 'log', grid: true },
    marginRight: 20,
    marks: [
      Plot.ruleY([sloSeconds], { stroke: 'crimson', strokeDasharray: '4 3' }),
      Plot.text([{ seconds: sloSeconds }], {
        y: 'seconds',
        text: () => `SLO: ${sloSeconds} s`,
        frameAnchor: 'left',
        dy: -6,
        dx: 4,
        fill: 'crimson',
      }),
      Plot.line(points, { x: 'rate', y: 'seconds', stroke: 'name' }),
      Plot.dot(points, {
        x: 'rate',
        y: 'seconds',
        stroke: 'name',
        symbol: (d: { saturated: boolean }) => (d.saturated ? 'times' : 'circle'),
        r: (d: { isKnee: boolean }) => (d.isKnee ? 7 : 3),
      }),
      Plot.text(
        points,
        Plot.selectLast({
          x: 'rate',
          y: 'seconds',
          z: 'name',
          text: 'name',
          dy: -10,
          textAnchor: 'end',
        }),
      ),
    ],
  })
}

/** Plots the latency of a single request against the throughput of many. */
function paretoChart({ finalists, winner }: TuneResult): string {
  const points = finalists.map(({ name, saturated, closed }) => ({
    name: name === winner.name ? `${name} (chosen)` : name,
    speed: meanOf(saturated.map((one) => one.audio_seconds_per_second)),
    seconds: closed.latency_ms.mean / 1_000,
  }))
  return chart('Throughput of many by latency of one', {
    x: { label: 'mean seconds of a request alone →', grid: true, inset: 40 },
    y: { label: '↑ audio-seconds a second, saturated', grid: true, inset: 20 },
    marks: [
      Plot.dot(points, { x: 'seconds', y: 'speed', fill: 'steelblue', r: 5 }),
      Plot.text(points, { x: 'seconds', y: 'speed', text: 'name', dy: -12 }),
    ],
  })
}

function stepChart({ steps, fit }: TuneResult): string {
  const most = Math.max(...steps.times.map(({ frames }) => frames))
  const line = [0, most].map((frames) => ({
    frames,
    seconds: fit.time.intercept + fit.time.slope * frames,
  }))
  return chart('Time of a batch by its frames, with its fit', {
    x: { label: 'frames of the batch →', grid: true },
    y: { label: '↑ seconds', grid: true },
    color: { legend: false },
    marks: [
      Plot.dot(steps.times, {
        x: 'frames',
        y: 'stepSeconds',
        stroke: (d: { seconds: number }) => `${d.seconds} s`,
      }),
      Plot.line(line, { x: 'frames', y: 'seconds', strokeDasharray: '4 3' }),
      nameOfChunks(steps.times, 'stepSeconds'),
    ],
  })
}

function memoryChart({ steps, fit }: TuneResult): string {
  const points = steps.times.flatMap(({ frames, memoryBytes, seconds }) =>
    memoryBytes === undefined ? [] : [{ frames, mebibytes: memoryBytes / MIB, seconds }],
  )
  const most = Math.max(...points.map(({ frames }) => frames))
  const line = [0, most].map((frames) => ({
    frames,
    mebibytes: (fit.memory.intercept + fit.memory.slope * frames) / MIB,
  }))
  return chart('Memory of a batch by its frames, with its fit', {
    x: { label: 'frames of the batch →', grid: true },
    y: { label: '↑ MiB at the peak', grid: true, zero: true },
    marks: [
      Plot.dot(points, {
        x: 'frames',
        y: 'mebibytes',
        stroke: (d: { seconds: number }) => `${d.seconds} s`,
      }),
      Plot.line(line, { x: 'frames', y: 'mebibytes', strokeDasharray: '4 3' }),
      nameOfChunks(points, 'mebibytes'),
    ],
  })
}

/** Which dots are of which chunks, at the largest batch of each. */
function nameOfChunks<T extends { frames: number; seconds: number }>(
  points: readonly T[],
  y: keyof T & string,
): Plot.Markish {
  const largest = new Map<number, T>()
  for (const point of points) {
    if (point.frames >= (largest.get(point.seconds)?.frames ?? 0)) largest.set(point.seconds, point)
  }
  return Plot.text([...largest.values()], {
    x: 'frames',
    y,
    text: ({ seconds }: T) => `chunks of ${seconds} s`,
    dx: -8,
    textAnchor: 'end',
  })
}

/** Plots stages of requests that come at random, at the finalists' lowest rate. */
function stagesChart({ finalists }: TuneResult): string {
  const bars = finalists.flatMap(({ name, rates }) =>
    STAGES.map((stage) => ({ name, stage, seconds: (rates[0]?.stages_ms[stage] ?? 0) / 1_000 })),
  )
  return chart('Where the time of a request goes, at the lowest rate', {
    marginLeft: 260,
    x: { label: 'mean seconds →', grid: true },
    y: { label: null },
    color: { legend: false, domain: STAGES },
    marks: [
      Plot.barX(bars, { x: 'seconds', y: 'name', fill: 'stage' }),
      Plot.text(
        bars,
        Plot.stackX({
          x: 'seconds',
          y: 'name',
          z: 'stage',
          text: (d: { stage: string; seconds: number }) => (d.seconds > 0.05 ? d.stage : ''),
        }),
      ),
    ],
  })
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
