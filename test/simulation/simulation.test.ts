/** Simulated runs: the seeds that once found something, a fixed set, and some that nobody has run. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { newSeed, reportOf } from './report.ts'
import { run } from './run.ts'

/** Seeds that found a fault of the product; docs/reliability.md says which. */
const REGRESSIONS: readonly number[] = []
const FIXED = { first: 1, runs: 40 }
const NEW_RUNS = 40

const series = (first: number, runs: number) => Array.from({ length: runs }, (_, i) => first + i)

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

test('all invariants hold in a fixed set of seeds', () =>
  assertHolds(series(FIXED.first, FIXED.runs)))

test('all invariants hold in new seeds', () => assertHolds(series(newSeed(), NEW_RUNS)))
