/** A short campaign; `npm run winnow -- campaign` runs long ones. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_SEED } from '../support/basics/test-seed.ts'
import { runCampaign } from './run.ts'

const FAULTS = 60
const timeout = 900_000

test('60 faults: nothing is lost, charged twice or reported twice', { timeout }, async (t) => {
  t.diagnostic(`npm run winnow -- campaign --faults ${FAULTS} --seed ${TEST_SEED}`)
  const { violations, logs, ...summary } = await runCampaign(t, {
    seed: TEST_SEED,
    faults: FAULTS,
    database: 'sqlite',
    gateways: 1,
  })
  t.diagnostic(JSON.stringify(summary))
  assert.deepEqual(violations, [], `seed ${TEST_SEED}, logs in ${logs}`)
})
