/** Simulated runs: the seeds that once found something, and a set that begins at the run's seed. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { TEST_SEED } from '../support/basics/test-seed.ts'
import { reportOf } from './report.ts'
import { run } from './run.ts'

/** Seeds that found a fault of the product; bench/results/reliability.md says which. */
const REGRESSIONS: readonly number[] = []
/** Most by the seeds of the night, which nobody has run. */
const RUNS = process.env.WINNOW_TEST_SEED ? 400 : 40

async function assertHolds(seeds: readonly number[]): Promise<void> {
  for (const seed of seeds) {
    const result = await run({ seed })
    if (result.violation) assert.fail(await reportOf(run, result))
  }
}

test('a seed replays bit for bit, and another one does not', async () => {
  const [one, again, other] = [
    await run({ seed: 3 }),
    await run({ seed: 3 }),
    await run({ seed: 4 }),
  ]
  assert.deepEqual(again, one)
  assert.notEqual(other.hash, one.hash)
  assert.ok(one.faults.length > 0 && one.requests > 0, 'something has happened')
})

test('all invariants hold in the seeds that once found a fault', () => assertHolds(REGRESSIONS))

test(`all invariants hold in ${RUNS} seeds from ${TEST_SEED} on`, () =>
  assertHolds(Array.from({ length: RUNS }, (_, i) => TEST_SEED + i)))
