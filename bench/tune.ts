/**
 * Question: which settings make the service fastest on this machine, within a limit on latency?
 *
 *   npm run bench -- tune --minutes 20 --slo p95=10s
 */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FLAG, readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { DEFAULT_MIX, parseMix } from './load/mix.ts'
import { load1 } from './load/own-service.ts'
import { commit, machine, report, round } from './report.ts'
import { compareRuns } from './tune/compare.ts'
import { Journal, readJournal } from './tune/journal.ts'
import { tune } from './tune/tune.ts'
import { writeResult } from './tune/write.ts'

const HELP = `Usage: npm run bench -- tune [options]

  --minutes N        of measuring, about (default 20)
  --slo p95=SECONDS  the limit on latency, such as p95=10s (the default)
  --mix PARTS        the load (default ${DEFAULT_MIX})
  --out FOLDER       where runs.jsonl, summary.csv and winnow.env go (default tuning)
  --resume           goes on from the runs.jsonl that is there, with the same options
  --compare FILE     an earlier runs.jsonl of this machine: exit code 1 when the service is slower

The model, and what else is not searched, is as in the environment: MODEL, CUDA_VISIBLE_DEVICES.
`

const { values } = readOwnArgv(
  {
    minutes: { ...TEXT, default: '20' },
    slo: { ...TEXT, default: 'p95=10s' },
    mix: { ...TEXT, default: DEFAULT_MIX },
    out: { ...TEXT, default: 'tuning' },
    resume: FLAG,
    compare: TEXT,
  },
  HELP,
)
const minutes = Number(values.minutes)
if (!(minutes > 0)) throw new Error(`--minutes must be above 0, not ${values.minutes}`)
const sloSeconds = Number(/^p95=(\d+(?:\.\d+)?)s$/.exec(values.slo)?.[1])
if (!(sloSeconds > 0)) throw new Error(`--slo is such as p95=10s, not "${values.slo}"`)
const compared = values.compare
if (compared !== undefined && !existsSync(compared)) throw new Error(`${compared} is not there`)

mkdirSync(values.out, { recursive: true })
const path = join(values.out, 'runs.jsonl')
const { mix, slo } = values
const model = process.env.MODEL ?? 'mini'
const header = {
  machine: machine(),
  commit: commit(),
  node: process.version,
  model,
  mix,
  slo,
  minutes,
}
const journal = new Journal(path, { header, resume: values.resume, load1 })
const result = await tune({
  mix: parseMix(values.mix),
  minutes,
  latencyMsMax: 1_000 * sloSeconds,
  journal,
  say,
})
writeResult(values.out, header, result)
const { name, ratio, withinSlo } = result.winner
report('which settings are fastest within the limit?', {
  settings: name,
  times_the_defaults: [ratio.estimate, ratio.low, ratio.high].map((x) => round(x)),
  requests_per_second_within_slo: withinSlo,
  search: result.searchEnded,
  measured_seconds: round(journal.elapsedSeconds),
  settings_file: join(values.out, 'winnow.env'),
})
if (compared !== undefined) process.exitCode = compareTo(compared)

function say(text: string): void {
  const left = Math.max(0, minutes - journal.elapsedSeconds / 60)
  const percent = Math.min(99, Math.round((100 * journal.elapsedSeconds) / (60 * minutes)))
  console.error(`${percent} %, about ${left.toFixed(1)} min left: ${text}`)
}

/** Returns the exit code: 1 if the service became slower. */
function compareTo(file: string): number {
  const now = { header, runs: journal.runs }
  const results = compareRuns(now, readJournal(file))
  for (const { candidate, ratio, isRegression } of results) {
    report('is the service as fast as before?', {
      candidate,
      times_as_fast: [ratio.estimate, ratio.low, ratio.high].map((x) => round(x)),
      is_regression: isRegression,
    })
  }
  return results.some(({ isRegression }) => isRegression) ? 1 : 0
}
