/** A small part of what `npm run campaign` does by the thousand. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSeed } from '../simulation/report.ts'
import { runCampaign } from './run.ts'

const FAULTS = 60
const timeout = 900_000

test(
  '60 faults by a new seed: nothing is lost, nothing charged or told twice',
  { timeout },
  async (t) => {
    const seed = newSeed()
    t.diagnostic(`npm run campaign -- --faults ${FAULTS} --seed ${seed}`)
    const { violations, logs, ...summary } = await runCampaign(t, {
      seed,
      faults: FAULTS,
      database: 'sqlite',
      gateways: 1,
    })
    t.diagnostic(JSON.stringify(summary))
    assert.deepEqual(violations, [], `seed ${seed}, logs in ${logs}`)
  },
)
