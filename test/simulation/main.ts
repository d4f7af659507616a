/**
 * `winnow simulate`: simulates runs of the whole service, each from a seed. `--seed N` replays one run
 * (with `--history`, it prints every event). Without a seed it runs new seeds: `--runs N` of them, or
 * for `--seconds N`. `--steps N` limits the events with faults. Prints the shortest failing history.
 */

import { FLAG, readOwnArgv, TEXT } from '../../scripts/cli/command.ts'
import { newSeed, reportOf } from './report.ts'
import { run, STEPS_DEFAULT } from './run.ts'

const { values } = readOwnArgv({
  seed: TEXT,
  steps: { ...TEXT, default: String(STEPS_DEFAULT) },
  runs: TEXT,
  seconds: TEXT,
  history: FLAG,
})
const steps = numberOf('steps', values.steps)
const first = values.seed === undefined ? newSeed() : numberOf('seed', values.seed)
const secondsMax = values.seconds === undefined ? Infinity : numberOf('seconds', values.seconds)
const isReplay = values.seed !== undefined && values.runs === undefined && secondsMax === Infinity
const runsMax = values.runs === undefined ? Infinity : numberOf('runs', values.runs)
const runs = isReplay ? 1 : runsMax === Infinity && secondsMax === Infinity ? 100 : runsMax

const startedAt = performance.now()
const usedBefore = process.cpuUsage()
const totals = { runs: 0, requests: 0, faults: 0, steps: 0, failures: 0 }
const failed: number[] = []
let hash = ''
for (let seed = first; totals.runs < runs && elapsedSeconds() < secondsMax; seed += 1) {
  const tell = values.history && isReplay ? (line: string) => console.log(line) : undefined
  const result = await run({ seed, steps, ...(tell && { tell }) })
  hash = result.hash
  totals.runs += 1
  totals.requests += result.requests
  totals.faults += result.faults.length
  totals.steps += result.steps
  if (!result.violation) continue
  totals.failures += 1
  failed.push(seed)
  console.log(await reportOf(run, result, steps))
}
const { user, system } = process.cpuUsage(usedBefore)
const cpuSeconds = (user + system) / 1e6
console.log(
  JSON.stringify({
    seeds: `${first} to ${first + totals.runs - 1}`,
    ...totals,
    ...(isReplay && { hash }),
    ...(failed.length > 0 && { failed }),
    seconds: round(elapsedSeconds()),
    cpu_seconds: round(cpuSeconds),
    faults_per_cpu_second: Math.round(totals.faults / cpuSeconds),
  }),
)
process.exit(failed.length > 0 ? 1 : 0)

function elapsedSeconds(): number {
  return (performance.now() - startedAt) / 1_000
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  console.error(`--${name} takes a whole number, not ${text}`)
  process.exit(2)
}
