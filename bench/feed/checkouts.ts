/** Compares checkouts: runs the `feed` of each in turns, every run in its own process. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { load1 } from '../load/own-service.ts'
import { quantile, report, round } from '../report.ts'

const SPEEDS = ['compute_thread', 'main_thread', 'engine'] as const

/**
 * One line that a run prints for a case. Each speed is [least, median, most]; a run has one round.
 */
type Answer = { channels: number; jobs: number } & Record<(typeof SPEEDS)[number], number[]>

/** Reports the speeds of each checkout, and their ratio to those of the first. */
export function compareCheckouts(
  checkouts: readonly string[],
  { turns, words }: { turns: number; words: readonly string[] },
): void {
  const runs = checkouts.map((): Answer[][] => [])
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [i, checkout] of checkouts.entries()) runs[i]!.push(runOnce(checkout, words))
  }
  for (const [i, checkout] of checkouts.entries()) {
    for (const [k, { channels, jobs }] of runs[i]![0]!.entries()) {
      const values = (at: number, name: (typeof SPEEDS)[number]) =>
        runs[at]!.map((answers) => answers[k]![name][1]!)
      const timesFirst = (name: (typeof SPEEDS)[number]) =>
        spread(values(i, name).map((speed, turn) => speed / values(0, name)[turn]!))
      report('audio-seconds a second, on a device that needs no time', {
        checkout,
        channels,
        jobs,
        n: turns,
        ...Object.fromEntries(SPEEDS.map((name) => [name, spread(values(i, name))])),
        ...Object.fromEntries(SPEEDS.map((name) => [`${name}_times_first`, timesFirst(name)])),
        load1: load1(),
      })
    }
  }
}

function runOnce(checkout: string, words: readonly string[]): Answer[] {
  const program = join(checkout, 'bench/feed.ts')
  const lines = execFileSync(process.execPath, ['--import', 'tsx', program, '1', ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer)
}

const spread = (values: readonly number[]): number[] =>
  [0, 0.5, 1].map((share) => round(quantile(values, share)))
