/** Writes a search's results as a table and as settings that are ready to use. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { round } from '../report.ts'
import type { Interval } from '../statistics/bootstrap.ts'
import type { RateResult, WorkResult } from './services.ts'
import type { Header } from './journal.ts'
import type { Finalist, TuneResult } from './tune.ts'

/** Writes summary.csv and winnow.env into the folder. */
export function writeResult(folder: string, header: Header, result: TuneResult): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'summary.csv'), summaryCsv(result))
  writeFileSync(join(folder, 'winnow.env'), environmentFile(header, result))
}

const COLUMNS = [
  'settings',
  'load',
  'requests_per_second',
  'audio_seconds_per_second',
  'p50_ms',
  'p95_ms',
  'errors',
  'saturated',
  'cpu_seconds_per_request',
  'peak_mib',
  'lanes_of_batch',
  'computing_share',
]

function summaryCsv({ finalists }: TuneResult): string {
  const rows = finalists.flatMap(({ name, saturated, closed, rates }) => [
    ...saturated.map((result) => row(name, 'all at once', result)),
    row(name, 'one by one', closed),
    ...rates.map((result) => row(name, 'at random', result)),
  ])
  return `${[COLUMNS.join(','), ...rows].join('\n')}\n`
}

function row(name: string, load: string, result: WorkResult | RateResult): string {
  const isRate = 'saturated' in result
  const { completed } = result
  return [
    name,
    load,
    isRate ? result.requests_per_second : round(completed / result.wall_seconds),
    result.audio_seconds_per_second,
    result.latency_ms.p50,
    result.latency_ms.p95,
    Object.values(result.errors).reduce((sum, n) => sum + n, 0),
    isRate ? result.saturated : '',
    round(result.cpu_seconds / Math.max(1, completed)),
    round(result.peak_bytes / 2 ** 20),
    result.lanes_of_batch,
    result.computing_share,
  ].join(',')
}

/**
 * Returns settings that `systemd` and shells can read; those at their default are commented out.
 */
function environmentFile(header: Header, result: TuneResult): string {
  const { winner, defaults, searchEnded, fit } = result
  const lines = [
    `# Made by \`npm run bench -- tune\`: ${header.machine}, ${header.mix}, ${header.slo},`,
    `# commit ${header.commit}. ${verdict(winner)}`,
    `# The search ${searchEnded === 'converged' ? 'converged' : 'ran out of time'}.`,
    `# A batch takes ${round(fit.time.intercept)} s, and ` +
      `${round(1_000 * fit.time.slope)} s for a thousand frames: from`,
    `# ${fit.framesForSpeed} frames on it is within 3 % of the greatest speed.`,
  ]
  for (const [name, value] of Object.entries(winner.candidate)) {
    lines.push(value === defaults[name] ? `# ${name}=${value} (the default)` : `${name}=${value}`)
  }
  return `${lines.join('\n')}\n`
}

function verdict({ name, ratio, withinSlo }: Finalist): string {
  const rate = withinSlo === null ? 'no rate that was tried' : `${withinSlo} requests a second`
  if (name === 'defaults') return `Nothing beat the defaults; they keep the limit at ${rate}.`
  return `${times(ratio)} as fast as the defaults; keeps the limit at ${rate}.`
}

const times = ({ estimate, low, high }: Interval): string =>
  `${estimate.toFixed(2)} times (${low.toFixed(2)} to ${high.toFixed(2)})`
