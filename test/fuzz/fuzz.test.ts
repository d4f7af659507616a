/** A small part of the cases that `npm run winnow -- fuzz` runs by the ten thousand. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_SEED } from '../support/basics/test-seed.ts'
import { fuzzCheckpoints } from './checkpoints.ts'
import { fuzzMedia } from './media.ts'

test('damaged media is read or refused with a code', async (t) => {
  const { ends } = await fuzzMedia({ cases: 200, seed: TEST_SEED })
  t.diagnostic(JSON.stringify(ends))
  assert.ok((ends.read ?? 0) > 0 && (ends.INVALID_MEDIA ?? 0) > 0)
})

test('damaged checkpoints are read or refused by a message that names the file', async (t) => {
  const { ends } = await fuzzCheckpoints({ cases: 800, seed: TEST_SEED })
  t.diagnostic(JSON.stringify(ends))
  assert.ok((ends.read ?? 0) > 0 && (ends.refused ?? 0) > 0)
})
