/** Simulated runs: a range of seeds that starts at the test seed. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { TEST_SEED } from '../support/basics/test-seed.ts'
import { reportOf } from './report.ts'
import { run } from './run.ts'

/** More runs when the seed is set, as at night, because nobody has run that seed yet. */
const RUNS = process.env.WINNOW_TEST_SEED ? 400 : 40

test('a seed replays bit for bit, and another seed differs', async () => {
  const [first, again, other] = [
    await run({ seed: 3 }),
    await run({ seed: 3 }),
    await run({ seed: 4 }),
  ]
  assert.deepEqual(again, first)
  assert.notEqual(other.hash, first.hash)
  assert.ok(first.faults.length > 0 && first.requests > 0, 'something has happened')
})

test(`all invariants hold in ${RUNS} seeds from ${TEST_SEED} on`, async () => {
  for (let seed = TEST_SEED; seed < TEST_SEED + RUNS; seed += 1) {
    const result = await run({ seed })
    if (result.violation) assert.fail(await reportOf(run, result))
  }
})
