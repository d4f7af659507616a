/** Reports a failed run for people. */

import { randomInt } from 'node:crypto'
import type { RunOptions, RunResult } from './run.ts'
import { shrink } from './shrink.ts'

const SEED_MAX = 2 ** 31

/** Returns a random seed. */
export const newSeed = (): number => randomInt(SEED_MAX)

/** Returns the violated invariant, the command that replays it, and the shortest history found. */
export async function reportOf(
  run: (options: RunOptions) => Promise<RunResult>,
  failing: RunResult,
  steps?: number,
): Promise<string> {
  const { seed, violation } = failing
  const limit = steps === undefined ? {} : { steps }
  const only = new Set(await shrink(run, failing, steps))
  const history: string[] = []
  const again = await run({ seed, only, tell: (line) => history.push(line), ...limit })
  return [
    `seed ${seed}: ${violation!.message}`,
    `  again: npm run winnow -- simulate --seed ${seed}${steps === undefined ? '' : ` --steps ${steps}`}`,
    `  needs, of ${failing.actions.length} actions and ${failing.faults.length} faults:`,
    ...[...only].map((name) => `    ${name}`),
    '  history:',
    ...history.map((line) => `    ${line}`),
    `  ${again.violation?.message}`,
  ].join('\n')
}
