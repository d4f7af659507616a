/** Loud masters, whose outputs would clip if they were not turned down. */

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  loudMaster,
  MasterSeparator,
  sumError,
  SUM_ERROR_MAX,
} from '../../../support/engine/loud-masters.ts'

const SEEDS = [0, 1, 2, 3, 10, 19]

let separator: MasterSeparator
before(async () => {
  separator = await MasterSeparator.start()
})
after(() => separator.stop())

for (const format of ['wav', 'flac'] as const) {
  test(`target and residual of loud masters add up in ${format}, and none clips`, async () => {
    const gains: number[] = []
    for (const seed of SEEDS) {
      const { finish, file } = loudMaster(seed)
      const separated = await separator.separate(file, format)
      gains.push(separated.gainDb)
      const error = sumError(separated)
      assert.ok(error <= SUM_ERROR_MAX, `${finish}: the sum is off by ${error}`)
    }
    assert.ok(Math.min(...gains) < -6, 'the one above full scale is lowered')
  })
}
