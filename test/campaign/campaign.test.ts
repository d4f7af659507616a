/** A small part of what `npm run campaign` does by the thousand. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCampaign } from './run.ts'

const FAULTS = 60
/** One plan of faults, so that a change is tried by what the last one was; others by hand. */
const SEED = 7
const timeout = 900_000

test('60 faults: nothing is lost, nothing charged or told twice', { timeout }, async (t) => {
  t.diagnostic(`npm run campaign -- --faults ${FAULTS} --seed ${SEED}`)
  const { violations, logs, ...summary } = await runCampaign(t, {
    seed: SEED,
    faults: FAULTS,
    database: 'sqlite',
    gateways: 1,
  })
  t.diagnostic(JSON.stringify(summary))
  assert.deepEqual(violations, [], `seed ${SEED}, logs in ${logs}`)
})
