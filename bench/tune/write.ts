/**
 * Writes a search's results: a table, settings that are ready to use, and a page that shows both.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tuneCharts } from '../charts/tune-charts.ts'
import { round } from '../report.ts'
import type { Interval } from '../statistics/bootstrap.ts'
import { nameOf } from './candidates.ts'
import type { RateResult, WorkResult } from './services.ts'
import type { Header } from './journal.ts'
import type { Finalist, TuneResult } from './tune.ts'

/** Writes summary.csv, winnow.env, report.html and the charts by themselves into the folder. */
export function writeResult(
  folder: string,
  header: Header,
  result: TuneResult,
  sloSeconds: number,
): void {
  const charts = tuneCharts(result, sloSeconds)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'summary.csv'), summaryCsv(result))
  writeFileSync(join(folder, 'winnow.env'), environmentFile(header, result))
  writeFileSync(join(folder, 'report.html'), page(header, result, charts))
  for (const [name, svg] of Object.entries(charts)) writeFileSync(join(folder, `${name}.svg`), svg)
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

/** Rates are in requests a second. */
const FINAL_COLUMNS = [
  'settings',
  'speed compared with the defaults',
  'knee',
  'rate within the SLO',
  'alone, ms',
]

export function summaryCsv({ finalists }: TuneResult): string {
  const rows = finalists.flatMap(({ name, saturated, closed, rates }) => [
    ...saturated.map((one) => row(name, 'all at once', one)),
    row(name, 'one by one', closed),
    ...rates.map((one) => row(name, 'at random', one)),
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

/** Settings as `systemd` and shells read them; what is as by default stands there as a comment. */
export function environmentFile(header: Header, result: TuneResult): string {
  const { winner, defaults, chunkLengths, search } = result
  const lines = [
    `# Made by \`npm run bench -- tune\`: ${header.machine}, ${header.mix}, ${header.slo},`,
    `# commit ${header.commit}. ${verdict(winner)}`,
    `# The search ${search.ended === 'converged' ? 'converged' : 'ran out of time'}.`,
  ]
  for (const [name, value] of Object.entries(winner.candidate)) {
    lines.push(value === defaults[name] ? `# ${name}=${value} (the default)` : `${name}=${value}`)
  }
  for (const { seconds, ratio } of chunkLengths.slice(1)) {
    lines.push(
      `# Requests with max_chunk_duration ${seconds} are ${times(ratio)} as fast; no setting.`,
    )
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

function page(
  header: Header,
  result: TuneResult,
  charts: Readonly<Record<string, string>>,
): string {
  const { winner, fit, search, finalists, defaults } = result
  const facts = Object.entries(header).map(([name, value]) => [name, String(value)])
  const ranking = search.ranking.map(({ candidate, score, ratio, turns }) => [
    nameOf(candidate, defaults),
    score.toFixed(3),
    times(ratio),
    String(turns),
  ])
  const finals = finalists.map((one) => [
    one.name,
    times(one.ratio),
    String(one.knee ?? '–'),
    String(one.withinSlo ?? '–'),
    String(one.closed.latency_ms.mean),
  ])
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Winnow: settings for this machine</title>
<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-size:.85rem}
td,th{border:1px solid #ccc;padding:.2rem .5rem;text-align:left}
pre{background:#eee;color:#222;padding:1rem;overflow:auto}svg{max-width:100%;height:auto}</style>
<h1>Settings for this machine</h1>
<p>${escape(verdict(winner))}</p>
<pre>${escape(environmentFile(header, result))}</pre>
${Object.values(charts).join('\n')}
<p>A batch takes ${seconds(fit.fixedSeconds)} s whatever its frames, and
${seconds(fit.secondsPerThousandFrames)} s for a thousand of them; from
${fit.framesForSpeed} frames on it is within 3 % of the greatest speed.</p>
<h2>Finalists</h2>
${table(FINAL_COLUMNS, finals)}
<h2>All that was tried</h2>
${table(['settings', 'score', 'compared with the best of its time', 'turns'], ranking)}
<h2>How it was measured</h2>
${table(['', ''], facts)}
</html>
`
}

const seconds = ({ estimate, low, high }: Interval): string =>
  `${round(estimate)} (${round(low)} to ${round(high)})`

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<table><tr>${head.map((cell) => `<th>${escape(cell)}</th>`).join('')}</tr>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`)
    .join('\n')}</table>`

const escape = (text: string): string =>
  text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
